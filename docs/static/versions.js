// Offers the releases in ../versions.json above the page's menu, and says where a page is not of the newest.
// Pages that were built alone have no such list and stay as they are.
(async () => {
  const root = new URL(document.documentElement.dataset.content_root ?? "./", location.href);
  const here = root.pathname.split("/").at(-2);
  if (!/^\d/.test(here)) return; // not in the folder of a release, so there is no list
  const answer = await fetch(new URL("../versions.json", root)).catch(() => null);
  if (!answer?.ok) return;
  const versions = await answer.json();
  if (!versions.includes(here)) return;

  const page = location.href.slice(root.href.length);
  const go = async (version) => {
    const start = new URL(`../${version}/`, root);
    const same = new URL(page, start);
    const found = await fetch(same, { method: "HEAD" }).catch(() => null);
    location.href = found?.ok ? same : start;
  };

  const label = document.createElement("label");
  label.className = "versions";
  label.textContent = "Version ";
  const select = label.appendChild(document.createElement("select"));
  for (const version of versions) select.add(new Option(version, version, false, version === here));
  select.addEventListener("change", () => go(select.value));
  document.querySelector(".sidebar-brand")?.after(label);

  if (here !== versions[0]) {
    const note = document.createElement("p");
    note.className = "old-version";
    note.append(`This page is of version ${here}. `);
    const link = note.appendChild(document.createElement("a"));
    link.textContent = `Read it in version ${versions[0]}.`;
    link.href = new URL(`../${versions[0]}/`, root);
    link.addEventListener("click", (event) => {
      event.preventDefault();
      go(versions[0]);
    });
    document.querySelector("article")?.prepend(note);
  }
})();

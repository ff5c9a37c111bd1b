// Puts a button on every block of code that copies it, without prompts and what was printed.
document.addEventListener("DOMContentLoaded", () => {
  for (const block of document.querySelectorAll("article div.highlight")) {
    const code = block.querySelector("pre");
    if (!code) continue;
    const button = document.createElement("button");
    button.className = "copy";
    button.type = "button";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(typed(code.innerText));
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy"), 1500);
    });
    block.append(button);
  }
});

// What a person types: of a session with prompts the lines that have one, else all.
function typed(text) {
  const lines = text.replace(/\n$/, "").split("\n");
  const prompt = /^(>>>|\.\.\.) ?/;
  if (!lines.some((line) => line.startsWith(">>>"))) return lines.join("\n");
  return lines.filter((line) => prompt.test(line)).map((line) => line.replace(prompt, "")).join("\n");
}

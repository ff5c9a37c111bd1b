"use strict";

// A tap on a figure of a phone shows it as wide as on a desktop, where its labels can be read; the next fits it again.
document.addEventListener("click", (event) => {
  if (event.target.matches("article img") && !event.target.closest("a")) {
    event.target.classList.toggle("enlarged");
  }
});

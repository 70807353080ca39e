// What the theme leaves out for readers who use a keyboard or a screen reader.
addEventListener("load", () => {
  document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
  for (const part of document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset p:has(> img)")) {
    if (part.scrollWidth > part.clientWidth || part.matches("div")) part.tabIndex = 0;
  }
});

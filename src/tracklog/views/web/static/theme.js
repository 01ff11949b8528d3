// The chosen colours, before the first paint: a plain script in the head, so that nothing flashes.
{
  const root = document.documentElement;
  const WORDS = {
    auto: "Colours: as the system has them",
    light: "Colours: light",
    dark: "Colours: dark",
  };
  const NAMES = Object.keys(WORDS);
  let theme = kept();

  function kept() {
    try {
      const name = localStorage.getItem("theme");
      return NAMES.includes(name) ? name : "auto";
    } catch {
      return "auto"; // a browser that keeps nothing for us
    }
  }

  function keep() {
    try {
      localStorage.setItem("theme", theme);
    } catch {
      // then it holds for this page only
    }
  }

  function wear() {
    if (theme === "auto") delete root.dataset.theme;
    else root.dataset.theme = theme;
    const button = document.getElementById("theme");
    if (!button) return;
    button.title = WORDS[theme];
    button.firstElementChild.className = `mark m-${theme}`;
    button.firstElementChild.textContent = WORDS[theme];
  }

  function next() {
    theme = NAMES[(NAMES.indexOf(theme) + 1) % NAMES.length];
    keep();
    wear();
  }

  root.classList.add("scripted");
  wear();
  document.addEventListener("DOMContentLoaded", () => {
    wear();
    document.getElementById("theme").addEventListener("click", next);
  });
  addEventListener("storage", () => {
    theme = kept(); // another page chose
    wear();
  });
}

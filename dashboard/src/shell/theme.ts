/** Light or dark: as the system says, or as somebody has chosen here. */

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const KEY = "trainway.theme";
const CLASS = "pf-v6-theme-dark";
const system = window.matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();
let chosen: Theme = read();

function read(): Theme {
  try {
    const stored = localStorage.getItem(KEY);
    return THEMES.find((theme) => theme === stored) ?? "system";
  } catch {
    return "system"; // a browser that keeps nothing
  }
}

function apply(): void {
  document.documentElement.classList.toggle(CLASS, isDark());
  for (const listener of listeners) listener();
}

export function isDark(): boolean {
  return chosen === "dark" || (chosen === "system" && system.matches);
}

export function theme(): Theme {
  return chosen;
}

export function chooseTheme(next: Theme): void {
  chosen = next;
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // It holds until the page is closed.
  }
  apply();
}

/** Be told when it changes, whoever changes it: for `useSyncExternalStore`, and for charts. */
export function onTheme(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Follow the system and other tabs from now on. */
export function startTheme(): void {
  system.addEventListener("change", apply);
  window.addEventListener("storage", (event) => {
    if (event.key !== KEY) return;
    chosen = read();
    apply();
  });
  apply();
}

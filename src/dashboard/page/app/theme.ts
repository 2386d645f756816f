import { useState } from 'preact/hooks';
import { html } from '#dashboard/page/html.ts';

type Theme = 'system' | 'light' | 'dark';

const storageKey = 'switchyard-theme';
const themes: ReadonlyArray<{ readonly value: Theme; readonly text: string }> = [
  { value: 'system', text: 'System' },
  { value: 'light', text: 'Light' },
  { value: 'dark', text: 'Dark' },
];

export function applyStoredTheme(): void {
  apply(storedTheme());
}

/** Charts use this, because they read the colours. @returns a function that removes the listener */
export function onThemeChange(listener: () => void): () => void {
  const system = matchMedia('(prefers-color-scheme: dark)');
  system.addEventListener('change', listener);
  const observer = new MutationObserver(listener);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
  return () => {
    system.removeEventListener('change', listener);
    observer.disconnect();
  };
}

export function ThemeChoice() {
  const [chosen, setChosen] = useState<Theme>(storedTheme);
  const pick = (theme: Theme) => {
    apply(theme);
    setChosen(theme);
    try {
      localStorage.setItem(storageKey, theme);
    } catch {
      // A browser without storage keeps the choice only until the tab closes.
    }
  };
  return html`<fieldset class="seg theme">
    <legend class="sr">Theme</legend>
    ${themes.map(
      ({ value, text }) => html`<label key=${value}>
        <input class="sr" type="radio" name="theme" checked=${value === chosen} onChange=${() => pick(value)} />${text}
      </label>`,
    )}
  </fieldset>`;
}

function apply(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

function storedTheme(): Theme {
  try {
    const stored = localStorage.getItem(storageKey);
    return stored === 'light' || stored === 'dark' ? stored : 'system';
  } catch {
    return 'system';
  }
}

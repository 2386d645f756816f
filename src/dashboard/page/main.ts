import { render } from 'preact';
import { App } from '#dashboard/page/app/app.ts';
import { applyStoredTheme } from '#dashboard/page/app/theme.ts';
import { html } from '#dashboard/page/html.ts';

applyStoredTheme();
const root = document.getElementById('page');
if (root !== null) render(html`<${App} />`, root);

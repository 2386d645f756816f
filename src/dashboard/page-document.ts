import type { PageAssets } from './page-assets.ts';

export const assetsPath = '/dashboard/assets';

const styles = ['main.css', 'vendor.uplot.css'];
const mainScript = 'main.js';

/**
 * Makes the HTML of the page. The browser loads all scripts at the same time, without waiting for the ones that import
 * them.
 */
export function pageDocument({ hash, files }: PageAssets): string {
  const address = (name: string) => `${assetsPath}/${hash}/${name}`;
  const scripts = [...files.keys()].filter((name) => name.endsWith('.js') && name !== mainScript);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Switchyard</title>
<link rel="icon" href="${address('styles.mark.svg')}">
${styles.map((name) => `<link rel="stylesheet" href="${address(name)}">`).join('\n')}
<script type="module" src="${address(mainScript)}"></script>
${scripts.map((name) => `<link rel="modulepreload" href="${address(name)}">`).join('\n')}
</head>
<body>
<noscript>The dashboard needs JavaScript. All that it shows is in the API: <a href="/docs">/docs</a></noscript>
<div id="page"></div>
</body>
</html>
`;
}

import { groupDescriptions } from '#application/openapi/openapi.ts';
import type { AnyOperation } from '#application/operations/operation.ts';
import { failures } from '#domain/failures.ts';
import eventReference from './event-reference.json' with { type: 'json' };

/**
 * A list of links by group, which needs no script, and the group that is chosen in Swagger UI, which `start.js` starts.
 */
export function docsPage(operations: ReadonlyArray<AnyOperation>, version: string): string {
  const groups = [...Map.groupBy(operations, ({ group }) => group)];
  return document(
    'Switchyard API',
    `  <body class="docs">
    <nav aria-label="Operations">
      <p><strong>Switchyard ${escaped(version)}</strong><br>
        <a href="/dashboard">Dashboard</a> · <a href="/docs/problems">Problems</a> · <a href="/docs/events">Events</a> ·
        <a href="/openapi.json">openapi.json</a></p>
${groups.map(([name, ofGroup], index) => groupLinks(name, ofGroup, index === 0)).join('\n')}
    </nav>
    <main id="operations"><noscript>This page needs JavaScript to show and call operations.</noscript></main>
    <script src="/docs/assets/swagger-ui-bundle.js"></script>
    <script type="module" src="/docs/assets/start.js"></script>
  </body>`,
    '<link rel="stylesheet" href="/docs/assets/swagger-ui.css">\n    ',
  );
}

function groupLinks(name: string, operations: ReadonlyArray<AnyOperation>, isOpen: boolean): string {
  const links = operations.map(
    ({ name: id, summary }) => `        <li><a href="#/${encodeURIComponent(name)}/${id}">${escaped(summary)}</a></li>`,
  );
  const about = groupDescriptions[name] ?? '';
  return `      <details data-group="${escaped(name)}"${isOpen ? ' open' : ''}><summary title="${escaped(about)}">${escaped(name)}</summary><ul>
${links.join('\n')}
      </ul></details>`;
}

/** The page of problems. The `type` of a problem points at it. */
export function problemsPage(): string {
  const rows = Object.entries(failures).map(
    ([code, { status, title, solution }]) =>
      `      <tr id="${code}"><td>${status}</td><td><code>${code}</code></td><td>${title}</td><td>${marked(solution)}</td></tr>`,
  );
  return document(
    'Switchyard problems',
    `  <body class="page">
    <h1>Problems</h1>
    <p>Every refusal has a <code>code</code>; its <code>detail</code> says what was wrong this time.</p>
    <table>
      <tr><th>Status</th><th>Code</th><th>Meaning</th><th>What to do</th></tr>
${rows.join('\n')}
    </table>
  </body>`,
  );
}

export function eventsPage(): string {
  const kinds = eventReference.map(({ kind, events }) => {
    const rows = events.map(
      ({ type, sentence, fields }) =>
        `      <tr id="${type}"><td><code>${type}</code></td><td>${escaped(sentence)}</td><td>${fields.map((field) => `<code>${field}</code>`).join(', ')}</td></tr>`,
    );
    return `    <h2>${kind}</h2>
    <table>
      <tr><th>Type</th><th>Sentence</th><th>Fields</th></tr>
${rows.join('\n')}
    </table>`;
  });
  return document(
    'Switchyard events',
    `  <body class="page">
    <h1>Events</h1>
    <p>These are the types that the <code>eventTypes</code> of a webhook endpoint may name. The live feed, histories and the
      audit show the same events. The sentences are examples; the fields are those of the stored event.</p>
${kinds.join('\n')}
  </body>`,
  );
}

function document(title: string, body: string, styles = ''): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title}</title>
    ${styles}<link rel="stylesheet" href="/docs/assets/docs.css">
    <link rel="icon" type="image/png" href="/docs/assets/favicon-32x32.png">
  </head>
${body}
</html>
`;
}

/** The text as HTML, with what is between backticks as code. */
function marked(text: string): string {
  return escaped(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

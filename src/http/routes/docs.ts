import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Context } from 'koa';
import { failures } from '#domain/shared/failure.ts';
import { problemsPath } from '#exchange/problem.ts';
import { apiSecurityHeaders, writeResponse } from '#http/response/response.ts';
import type { Route } from '#http/server/router.ts';
import type { Json } from '#shared/json/json.ts';

/** The path of the page with all operations. */
export const docsPath = '/docs';

/** Swagger UI styles its elements inline; everything else comes only from this service. */
const pagePolicy = [
  'Content-Security-Policy',
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
    "media-src blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
];

const revalidated = ['Cache-Control', 'no-cache'];
const toPage = [...apiSecurityHeaders, 'Cache-Control', 'no-cache', 'Location', docsPath];
const keptADay = ['Cache-Control', 'public, max-age=86400'];

/** The files of Swagger UI that the page needs, from its package. */
const packageFiles: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Switchyard API</title>
    <link rel="stylesheet" href="/docs/assets/swagger-ui.css">
    <link rel="icon" type="image/png" href="/docs/assets/favicon-32x32.png">
  </head>
  <body>
    <noscript>This page needs JavaScript. The same in JSON: <a href="/openapi.json">/openapi.json</a></noscript>
    <nav style="padding: 0.75rem 1.25rem; font: 0.875rem system-ui, sans-serif"><a href="/dashboard">Dashboard</a></nav>
    <main id="operations"></main>
    <script src="/docs/assets/swagger-ui-bundle.js"></script>
    <script src="/docs/assets/start.js"></script>
  </body>
</html>
`;

/** Makes a page with every failure; the `type` of a problem points at it. */
function problemsPage(): string {
  const rows = Object.entries(failures)
    .map(
      ([code, { status, title }]) =>
        `      <tr id="${code}"><td>${status}</td><td><code>${code}</code></td><td>${title}</td></tr>`,
    )
    .join('\n');
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Switchyard problems</title>
    <style>
      body { font: 1rem/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 50rem; padding: 0 1rem; }
      table { border-collapse: collapse; width: 100%; }
      td, th { border-bottom: 1px solid #ccc; padding: 0.3rem 0.6rem; text-align: left; }
      tr:target { background: #fff3c4; }
    </style>
  </head>
  <body>
    <h1>Problems</h1>
    <p>Every refusal carries a <code>code</code>; its <code>detail</code> says what was wrong this time.</p>
    <table>
      <tr><th>Status</th><th>Code</th><th>Meaning</th></tr>
${rows}
    </table>
  </body>
</html>
`;
}

/**
 * The documentation's paths; all are public.
 * @param openApi makes the description of the API
 */
export function docsRoutes(openApi: () => Json): ReadonlyArray<Route> {
  const files = new Map(Object.entries(packageFiles).map(([name, type]) => [name, packageFile(name, type)]));
  files.set(
    'start.js',
    fixed(() => startScript, 'text/javascript; charset=utf-8', keptADay),
  );
  return [
    {
      method: 'GET',
      path: '/openapi.json',
      handler: fixed(() => JSON.stringify(openApi()), 'application/json', revalidated),
    },
    { method: 'GET', path: docsPath, handler: fixed(() => page, 'text/html; charset=utf-8', revalidated) },
    { method: 'GET', path: `${docsPath}/`, handler: async (ctx) => writeResponse(ctx, 308, toPage, null) },
    { method: 'GET', path: problemsPath, handler: fixed(problemsPage, 'text/html; charset=utf-8', revalidated) },
    { method: 'GET', path: '/favicon.ico', handler: packageFile('favicon-32x32.png', 'image/png') },
    ...[...files].map(([name, handler]) => ({ method: 'GET', path: `/docs/assets/${name}`, handler })),
  ];
}

type Serve = (ctx: Context) => Promise<void>;

/** A page that is made at its first request. */
function fixed(textOf: () => string, type: string, caching: ReadonlyArray<string>): Serve {
  let made: { readonly bytes: Buffer; readonly tag: string } | null = null;
  const make = () => {
    const bytes = Buffer.from(textOf());
    return { bytes, tag: tagOf(bytes) };
  };
  return async (ctx) => {
    made ??= make();
    serve(ctx, made.bytes, made.tag, type, caching);
  };
}

/** A file of Swagger UI's package, read at its first request. */
function packageFile(name: string, type: string): Serve {
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  let loaded: Promise<{ bytes: Buffer; tag: string }> | null = null;
  const load = async () => {
    const bytes = await readFile(join(folder, name));
    return { bytes, tag: tagOf(bytes) };
  };
  return async (ctx) => {
    loaded ??= load();
    const { bytes, tag } = await loaded;
    serve(ctx, bytes, tag, type, keptADay);
  };
}

function tagOf(bytes: Buffer): string {
  return `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
}

function serve(ctx: Context, bytes: Buffer, tag: string, type: string, caching: ReadonlyArray<string>): void {
  const fields = [...pagePolicy, ...caching, 'ETag', tag];
  if (ctx.req.headers['if-none-match'] === tag) writeResponse(ctx, 304, fields, null);
  else writeResponse(ctx, 200, [...fields, 'Content-Type', type], bytes);
}

/**
 * The script that starts Swagger UI. What a user enters under "Authorize" is kept for the tab until "Logout";
 * `persistAuthorization` would keep it for good. What is sent is checked strictly, so that a misspelt member shows.
 */
export const startScript = `const kept = 'switchyard.authorized';

function keep(system) {
  sessionStorage.setItem(kept, JSON.stringify(system.authSelectors.authorized().toJS()));
}

function keepAuthorization() {
  const keeping = (original, system) => (payload) => {
    const result = original(payload);
    keep(system);
    return result;
  };
  return { statePlugins: { auth: { wrapActions: { authorize: keeping, logout: keeping } } } };
}

// Swagger UI plays an answer by asking for its address again, with GET and without the key.
function playAnswers({ React: { createElement, useMemo } }) {
  const Player = ({ content }) => {
    const src = useMemo(() => URL.createObjectURL(content), [content]);
    return createElement('audio', { controls: true, src });
  };
  const playing = (Original) => (props) => {
    const isAudio = props.content instanceof Blob && /^audio\\//i.test(props.contentType);
    return createElement(isAudio ? Player : Original, props);
  };
  return { wrapComponents: { responseBody: playing } };
}

const page = SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#operations',
  deepLinking: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
  presets: [SwaggerUIBundle.presets.apis],
  plugins: [keepAuthorization, playAnswers],
  layout: 'BaseLayout',
  requestInterceptor: (request) => {
    if (!request.loadSpec) request.headers.Prefer = 'handling=strict';
    return request;
  },
  onComplete: () => {
    const authorized = sessionStorage.getItem(kept);
    if (authorized !== null) page.authActions.authorize(JSON.parse(authorized));
  },
});
`;

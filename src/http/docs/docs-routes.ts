import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Context } from 'koa';
import { openApiDocument } from '#application/openapi/openapi.ts';
import type { AnyOperation } from '#application/operations/operation.ts';
import { problemsPath } from '#exchange/problem.ts';
import { answerFile } from '#http/response/answer-file.ts';
import { type CompressedFile, compressFile } from '#http/response/compressed-file.ts';
import { apiSecurityHeaders, writeResponse } from '#http/response/response.ts';
import type { Route } from '#http/routes/router.ts';
import { docsPage, eventsPage, problemsPage } from './docs-pages.ts';

export const docsPath = '/docs';

/** The policy of the page. Swagger UI styles its elements inline; everything else comes only from this service. */
const pagePolicy = [
  'Content-Security-Policy',
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
    "media-src blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
];

const revalidated = ['Cache-Control', 'no-cache'];
const toPage = [...apiSecurityHeaders, 'Cache-Control', 'no-cache', 'Location', docsPath];
const keptADay = ['Cache-Control', 'public, max-age=86400'];
const html = 'text/html; charset=utf-8';
const javaScript = 'text/javascript; charset=utf-8';
const css = 'text/css; charset=utf-8';
const icon = 'favicon-32x32.png';

export interface DocsOptions {
  readonly operations: ReadonlyArray<AnyOperation>;
  readonly version: string;
}

/** All routes are public. Each file is made and compressed once, at its first request. */
export function docsRoutes({ operations, version }: DocsOptions): ReadonlyArray<Route> {
  const get = (path: string, handler: Route['handler']): Route => ({ method: 'GET', path, handler });
  const page = (textOf: () => string) => file(html, () => Buffer.from(textOf()), revalidated);
  const specification = () => Buffer.from(JSON.stringify(openApiDocument(operations, version)));
  return [
    get('/openapi.json', file('application/json', specification, revalidated)),
    get(
      docsPath,
      page(() => docsPage(operations, version)),
    ),
    get(`${docsPath}/`, async (ctx) => writeResponse(ctx, 308, toPage, null)),
    get(problemsPath, page(problemsPage)),
    get(`${docsPath}/events`, page(eventsPage)),
    get('/favicon.ico', file('image/png', ofSwaggerUi(icon), keptADay)),
    get(`${docsPath}/assets/${icon}`, file('image/png', ofSwaggerUi(icon), keptADay)),
    get(`${docsPath}/assets/swagger-ui.css`, file(css, ofSwaggerUi('swagger-ui.css'), keptADay)),
    get(`${docsPath}/assets/swagger-ui-bundle.js`, file(javaScript, ofSwaggerUi('swagger-ui-bundle.js'), keptADay)),
    get(`${docsPath}/assets/docs.css`, file(css, own('docs.css'), revalidated)),
    get(`${docsPath}/assets/start.js`, file(javaScript, own('start.js'), revalidated)),
  ];
}

function own(name: string): () => Promise<Buffer> {
  return () => readFile(join(import.meta.dirname, name));
}

function ofSwaggerUi(name: string): () => Promise<Buffer> {
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  return () => readFile(join(folder, name));
}

function file(
  type: string,
  bytesOf: () => Buffer | Promise<Buffer>,
  caching: ReadonlyArray<string>,
): (ctx: Context) => Promise<void> {
  let made: Promise<CompressedFile> | null = null;
  return async (ctx) => {
    made ??= Promise.resolve(bytesOf()).then((bytes) => compressFile(type, bytes));
    answerFile(ctx, await made, [...pagePolicy, ...caching]);
  };
}

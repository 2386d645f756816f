import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import { answerFile } from '#http/response/answer-file.ts';
import { apiSecurityHeaders, writeResponse } from '#http/response/response.ts';
import type { Route } from '#http/routes/router.ts';
import { loadPageAssets, type PageAssets } from './page-assets.ts';
import { assetsPath, pageDocument } from './page-document.ts';
import { pagePaths } from './page-paths.ts';

/** Forbids inline scripts and styles, files from other origins, frames around the page, and forms. */
const pagePolicy = [
  'Content-Security-Policy',
  "default-src 'self'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
];

const revalidateHeaders = ['Cache-Control', 'no-cache'];
const immutableHeaders = ['Cache-Control', 'public, max-age=31536000, immutable'];

/** The page as it was made for the first request. */
interface LoadedPage {
  readonly assets: PageAssets;
  readonly document: Buffer;
  readonly tag: string;
}

/** All routes are public, because the page gets its data from the API with a key. */
export function dashboardRoutes(): ReadonlyArray<Route> {
  let loading: Promise<LoadedPage> | null = null;
  const loaded = async () => {
    loading ??= load();
    try {
      return await loading;
    } catch (error) {
      loading = null;
      throw error;
    }
  };
  const answerPage: Route['handler'] = async (ctx) => answerDocument(ctx, await loaded());
  const answerAsset: Route['handler'] = async (ctx, { hash = '', name = '' }) => {
    const { assets } = await loaded();
    const file = hash === assets.hash ? assets.files.get(name) : undefined;
    if (file === undefined) writeResponse(ctx, 404, apiSecurityHeaders, null);
    else answerFile(ctx, file, [...pagePolicy, ...immutableHeaders]);
  };
  return [
    ...pagePaths.map((path) => ({ method: 'GET', path, handler: answerPage })),
    { method: 'GET', path: `${assetsPath}/:hash/:name`, handler: answerAsset },
  ];
}

async function load(): Promise<LoadedPage> {
  const assets = await loadPageAssets();
  const document = Buffer.from(pageDocument(assets));
  return { assets, document, tag: `"${createHash('sha256').update(document).digest('base64url').slice(0, 22)}"` };
}

function answerDocument(ctx: Context, { document, tag }: LoadedPage): void {
  const headers = [...pagePolicy, ...revalidateHeaders, 'ETag', tag];
  if (ctx.req.headers['if-none-match'] === tag) writeResponse(ctx, 304, headers, null);
  else writeResponse(ctx, 200, [...headers, 'Content-Type', 'text/html; charset=utf-8'], document);
}

import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import { apiSecurityHeaders, writeResponse } from '#http/response/response.ts';
import type { Route } from '#http/server/router.ts';
import { loadPageAssets, type PageAssets } from './page-assets.ts';
import { assetsPath, pageDocument } from './page-document.ts';
import { pagePaths } from './page-paths.ts';
import type { CompressedFile } from './page-thread.ts';

/** Nothing inline, nothing from elsewhere; the page cannot be framed, and sends no forms. */
const pagePolicy = [
  'Content-Security-Policy',
  "default-src 'self'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
];

const revalidated = ['Cache-Control', 'no-cache'];
const keptForEver = ['Cache-Control', 'public, max-age=31536000, immutable'];

/** A page with its files, made when it is first asked for. */
interface Loaded {
  readonly assets: PageAssets;
  readonly document: Buffer;
  readonly tag: string;
}

/** The dashboard's paths. All are public: what the page shows, it asks the API for, with a key. */
export function dashboardRoutes(): ReadonlyArray<Route> {
  let loading: Promise<Loaded> | null = null;
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
  const answerFile: Route['handler'] = async (ctx, { hash = '', name = '' }) => {
    const { assets } = await loaded();
    const file = hash === assets.hash ? assets.files.get(name) : undefined;
    if (file === undefined) writeResponse(ctx, 404, apiSecurityHeaders, null);
    else answerAsset(ctx, file, assets.hash);
  };
  return [
    ...pagePaths.map((path) => ({ method: 'GET', path, handler: answerPage })),
    { method: 'GET', path: `${assetsPath}/:hash/:name`, handler: answerFile },
  ];
}

async function load(): Promise<Loaded> {
  const assets = await loadPageAssets();
  const document = Buffer.from(pageDocument(assets));
  return { assets, document, tag: `"${createHash('sha256').update(document).digest('base64url').slice(0, 22)}"` };
}

function answerDocument(ctx: Context, { document, tag }: Loaded): void {
  const fields = [...pagePolicy, ...revalidated, 'ETag', tag];
  if (ctx.req.headers['if-none-match'] === tag) writeResponse(ctx, 304, fields, null);
  else writeResponse(ctx, 200, [...fields, 'Content-Type', 'text/html; charset=utf-8'], document);
}

function answerAsset(ctx: Context, file: CompressedFile, hash: string): void {
  const { encoding, bytes } = encodedFor(ctx.req.headers['accept-encoding'], file);
  const tag = `"${hash}${encoding === null ? '' : `-${encoding}`}"`;
  const fields = [...pagePolicy, ...keptForEver, 'Vary', 'Accept-Encoding', 'ETag', tag];
  if (ctx.req.headers['if-none-match'] === tag) {
    writeResponse(ctx, 304, fields, null);
    return;
  }
  if (encoding !== null) fields.push('Content-Encoding', encoding);
  writeResponse(
    ctx,
    200,
    [...fields, 'Content-Type', file.type],
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
  );
}

interface Encoded {
  readonly encoding: 'br' | 'gzip' | null;
  readonly bytes: Uint8Array;
}

/** The smallest form that the browser takes. */
function encodedFor(accepted: string | string[] | undefined, { plain, gzip, brotli }: CompressedFile): Encoded {
  const offered = String(accepted ?? '');
  if (takes(offered, 'br')) return { encoding: 'br', bytes: brotli };
  if (takes(offered, 'gzip')) return { encoding: 'gzip', bytes: gzip };
  return { encoding: null, bytes: plain };
}

function takes(offered: string, encoding: string): boolean {
  return offered.split(',').some((part) => {
    const [name = '', ...parameters] = part.split(';').map((each) => each.trim().toLowerCase());
    return name === encoding && !parameters.some((each) => /^q=0(\.0*)?$/.test(each));
  });
}

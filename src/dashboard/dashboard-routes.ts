import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import { apiSecurityHeaders, writeResponse } from '#http/response/response.ts';
import type { Route } from '#http/server/router.ts';
import { loadPageAssets, type PageAssets } from './page-assets.ts';
import { assetsPath, pageDocument } from './page-document.ts';
import { pagePaths } from './page-paths.ts';
import type { CompressedFile } from './page-thread.ts';

/** Forbids inline scripts and styles, files from other origins, frames around the page, and forms. */
const pagePolicy = [
  'Content-Security-Policy',
  "default-src 'self'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
];

const revalidateHeaders = ['Cache-Control', 'no-cache'];
const immutableHeaders = ['Cache-Control', 'public, max-age=31536000, immutable'];

/** The page with its files, made for the first request. */
interface LoadedPage {
  readonly assets: PageAssets;
  readonly document: Buffer;
  readonly tag: string;
}

/** Returns the dashboard's routes. All are public, because the page gets its data from the API with a key. */
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

function answerAsset(ctx: Context, file: CompressedFile, hash: string): void {
  const { encoding, bytes } = encodedFor(ctx.req.headers['accept-encoding'], file);
  const tag = `"${hash}${encoding === null ? '' : `-${encoding}`}"`;
  const headers = [...pagePolicy, ...immutableHeaders, 'Vary', 'Accept-Encoding', 'ETag', tag];
  if (ctx.req.headers['if-none-match'] === tag) {
    writeResponse(ctx, 304, headers, null);
    return;
  }
  if (encoding !== null) headers.push('Content-Encoding', encoding);
  writeResponse(
    ctx,
    200,
    [...headers, 'Content-Type', file.type],
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
  );
}

interface Encoded {
  readonly encoding: 'br' | 'gzip' | null;
  readonly bytes: Uint8Array;
}

/** Returns the smallest form that the browser accepts. */
function encodedFor(accepted: string | string[] | undefined, { plain, gzip, brotli }: CompressedFile): Encoded {
  const header = String(accepted ?? '');
  if (accepts(header, 'br')) return { encoding: 'br', bytes: brotli };
  if (accepts(header, 'gzip')) return { encoding: 'gzip', bytes: gzip };
  return { encoding: null, bytes: plain };
}

function accepts(header: string, encoding: string): boolean {
  return header.split(',').some((part) => {
    const [name = '', ...parameters] = part.split(';').map((each) => each.trim().toLowerCase());
    return name === encoding && !parameters.some((each) => /^q=0(\.0*)?$/.test(each));
  });
}

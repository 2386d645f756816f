import contentDisposition from 'content-disposition';
import parseRange from 'range-parser';
import type { Download } from '#application/operations/operation.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import type { RequestContext } from '#http/request/request-context.ts';
import { isNamedIn } from '#http/request/request-headers.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { apiSecurityHeaders, noStoreHeaders, startResponse, writeResponse } from './response.ts';
import { writePieces } from './streamed-response.ts';

/** A part of a file. `end` is excluded. */
interface Part {
  readonly start: number;
  readonly end: number;
}

/**
 * Writes a file. For several parts in `Range` it writes the whole file, as RFC 9110 allows.
 * @returns why the file cannot be written; null after writing it, or if the client has left
 * @throws UnavailableError before anything was written
 */
export async function writeDownload(context: RequestContext, download: Download): Promise<Failure | null> {
  const { ctx, limitHeaders, ignoredHeaders } = context;
  const { headers, method } = ctx.req;
  const { bytes } = download;
  const etag = `"${download.etag}"`;
  const fields = [
    ...apiSecurityHeaders,
    ...noStoreHeaders,
    ...limitHeaders,
    ...ignoredHeaders,
    'ETag',
    etag,
    'Accept-Ranges',
    'bytes',
  ];
  if (isNamedIn(headers['if-none-match'], etag)) {
    writeResponse(ctx, 304, fields, null);
    return null;
  }
  const asksForPart = headers['if-range'] === undefined || headers['if-range'] === etag;
  const part = asksForPart ? partOf(bytes, headers.range) : null;
  if (part === 'none') return noSuchPart(bytes);
  const { start, end } = part ?? { start: 0, end: bytes };
  fields.push('Content-Type', download.contentType, 'Content-Length', String(end - start));
  fields.push('Content-Disposition', dispositionOf(download.filename));
  if (part !== null) fields.push('Content-Range', `bytes ${start}-${end - 1}/${bytes}`);
  const content = await download.open(start, end);
  if (content === null) throw new UnavailableError('The content of the file is not in the blob store.');
  if (!startResponse(ctx, part === null ? 200 : 206, fields) || method === 'HEAD') {
    content.destroy();
    ctx.res.end();
    return null;
  }
  // The answer has begun. If it breaks, the connection is closed, so that a part does not look like the whole file.
  await writePieces(ctx.res, content).catch(() => undefined);
  return null;
}

/** Clients that cannot read the full name get one in ASCII. */
function dispositionOf(filename: string): string {
  return contentDisposition(filename, { type: 'attachment', fallback: filename.replace(/[^\x20-\x7e]/g, '_') });
}

/** The part; null for the whole file, `none` for a part beyond its end. */
function partOf(bytes: number, header: string | undefined): Part | null | 'none' {
  if (header === undefined) return null;
  const ranges = parseRange(bytes, header, { combine: true });
  if (ranges === -1) return 'none';
  if (ranges === -2 || ranges.type !== 'bytes' || ranges.length !== 1 || ranges[0] === undefined) return null;
  return { start: ranges[0].start, end: ranges[0].end + 1 };
}

function noSuchPart(bytes: number): Failure {
  return failure('range-not-satisfiable', `The file has ${bytes} bytes: Range must ask for some of them.`);
}

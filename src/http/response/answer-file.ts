import type { Context } from 'koa';
import type { CompressedFile } from './compressed-file.ts';
import { writeResponse } from './response.ts';

/**
 * Answers with a file in the smallest form that the client accepts, or with 304 if the client has it.
 * @param headers alternating names and values
 */
export function answerFile(ctx: Context, file: CompressedFile, headers: ReadonlyArray<string>): void {
  const { encoding, bytes } = encodedFor(ctx.req.headers['accept-encoding'], file);
  // Each form has a tag of its own: with a strong tag the bytes must be the same (RFC 9110, section 8.8.1).
  const tag = `"${file.hash}${encoding === null ? '' : `-${encoding}`}"`;
  const fields = [...headers, 'Vary', 'Accept-Encoding', 'ETag', tag];
  if (ctx.req.headers['if-none-match'] === tag) {
    writeResponse(ctx, 304, fields, null);
    return;
  }
  if (encoding !== null) fields.push('Content-Encoding', encoding);
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  writeResponse(ctx, 200, [...fields, 'Content-Type', file.type], body);
}

interface Encoded {
  readonly encoding: 'br' | 'gzip' | null;
  readonly bytes: Uint8Array;
}

/** The smallest form that the client accepts. */
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

import type { IncomingHttpHeaders } from 'node:http';

const strictHandling = /(?:^|,)\s*handling\s*=\s*"?strict"?\s*(?:[;,]|$)/i;

/** Whether `Prefer: handling=strict` (RFC 7240) asks to refuse what an operation does not know or cannot do. */
export function isStrict({ prefer }: IncomingHttpHeaders): boolean {
  return prefer !== undefined && strictHandling.test([prefer].flat().join(', '));
}

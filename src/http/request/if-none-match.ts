/**
 * Whether `If-None-Match` names an ETag. Weak tags are compared like strong ones (RFC 9110, 13.1.2).
 * @param header undefined without one
 * @param etag with its quotes
 */
export function isNamedIn(header: string | undefined, etag: string): boolean {
  const named = (header ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return named.includes(etag) || named.includes('*');
}

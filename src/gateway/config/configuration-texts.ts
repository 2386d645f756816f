const maxNameLength = 200;

/**
 * Checks a name that appears in headers, metrics and logs.
 * @returns what is wrong with it; null if it is valid
 */
export function checkName(name: string): string | null {
  if (name === '' || name.length > maxNameLength) return `must have a name of 1 to ${maxNameLength} characters`;
  return /^[\x21-\x7e]+$/.test(name) ? null : 'must have a name of visible ASCII characters, without blanks';
}

/** Checks the address of a provider. */
export function checkBaseUrl(value: string): string | null {
  const url = URL.parse(value);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return 'must be an http or https URL';
  if (url.username !== '' || url.password !== '') return 'must hold no user or password: use apiKeyEnv';
  return url.hash === '' ? null : 'must have no fragment';
}

/** Headers that the gateway or HTTP itself sets. */
const ownHeaders = new Set(
  (
    'host connection keep-alive proxy-connection transfer-encoding te trailer upgrade expect content-length ' +
    'content-type content-encoding accept accept-encoding user-agent'
  ).split(' '),
);

/** Checks the name of a header that the operator adds. */
export function checkHeaderName(value: string): string | null {
  if (!/^[!#$%&'*+.^`|~\w-]{1,100}$/.test(value)) return 'must be the name of a header';
  return ownHeaders.has(value.toLowerCase()) ? 'is written by the gateway itself' : null;
}

/** Checks the value of a header. */
export function checkHeaderValue(value: string): string | null {
  return /^[\x20-\x7e]*$/.test(value) ? null : 'must be visible ASCII';
}

/** Checks the name of a model. */
export function checkVisibleAscii(value: string): string | null {
  return /^[\x21-\x7e]+$/.test(value) ? null : 'must be visible ASCII characters, without blanks';
}

/** The most characters of an endpoint's URL. */
export const maxUrlCharacters = 2_048;

/**
 * The fault in the form of an endpoint's URL; null if it is valid. It does not resolve the host.
 * @param allowsHttp whether plain HTTP is allowed
 */
export function faultOfUrl(url: string, allowsHttp: boolean): string | null {
  if (!URL.canParse(url)) return 'must be a URL, like https://example.com/hooks';
  const { protocol, username, password, hash } = new URL(url);
  if (protocol !== 'https:' && !(allowsHttp && protocol === 'http:')) return 'must begin with https://';
  if (username !== '' || password !== '') return 'must not have a user name or a password in it';
  return hash === '' ? null : 'must not have a fragment (#…)';
}

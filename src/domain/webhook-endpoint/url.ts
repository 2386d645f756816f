/** Characters of an endpoint's URL at most. */
export const maxUrlCharacters = 2_048;

/**
 * What is wrong with the form of an endpoint's URL, whatever its host resolves to; null for nothing.
 * @param allowsHttp whether plain HTTP is taken too
 */
export function faultOfUrl(url: string, allowsHttp: boolean): string | null {
  if (!URL.canParse(url)) return 'must be a URL, like https://example.com/hooks';
  const { protocol, username, password, hash } = new URL(url);
  if (protocol !== 'https:' && !(allowsHttp && protocol === 'http:')) return 'must begin with https://';
  if (username !== '' || password !== '') return 'must not have a user name or a password in it';
  return hash === '' ? null : 'must not have a fragment (#…)';
}

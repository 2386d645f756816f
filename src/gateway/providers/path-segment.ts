const maxSegmentCharacters = 200;

/**
 * Checks a text that becomes one segment of a provider's path; null if it is valid. Percent-encoding is not enough: it
 * does not change `..`, and many servers decode `%2F` before routing.
 */
export function checkPathSegment(text: string): string | null {
  if (text === '' || text.length > maxSegmentCharacters) return `must have 1 to ${maxSegmentCharacters} characters`;
  if (/^[.\s]+$/.test(text)) return 'must not be made of dots';
  if (!text.isWellFormed() || /[\p{Cc}\u2028\u2029/\\%?#;]/u.test(text)) {
    return 'must hold no control character and none of / \\ % ? # ;';
  }
  return null;
}

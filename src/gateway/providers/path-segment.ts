const longestSegment = 200;

/**
 * What is wrong with a text that becomes one segment of a provider's path; null for nothing. Percent-encoding is not
 * enough: `..` stays as it is, and many servers decode `%2F` before they choose what answers.
 */
export function checkPathSegment(text: string): string | null {
  if (text === '' || text.length > longestSegment) return `must have 1 to ${longestSegment} characters`;
  if (/^[.\s]+$/.test(text)) return 'must not be made of dots';
  if (!text.isWellFormed() || /[\p{Cc}\u2028\u2029/\\%?#;]/u.test(text)) {
    return 'must hold no control character and none of / \\ % ? # ;';
  }
  return null;
}

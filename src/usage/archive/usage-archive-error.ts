/** A day's usage cannot be archived, and an operator must act. Nothing was removed. */
export class UsageArchiveError extends Error {
  override readonly name = 'UsageArchiveError';
}

/** A day's usage cannot be archived, and a person must do something about it. Nothing of it was removed. */
export class UsageArchiveError extends Error {
  override readonly name = 'UsageArchiveError';
}

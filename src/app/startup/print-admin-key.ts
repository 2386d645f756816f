/**
 * Prints the admin key of a first start to standard output, even if that is not a terminal, because the key is shown only
 * once.
 */
export function printAdminKey(key: string): void {
  process.stdout.write(`\nThe first admin key, shown this once:\n\n  ${key}\n\n`);
}

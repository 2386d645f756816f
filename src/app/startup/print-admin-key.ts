/**
 * Shows the admin key that a first start makes: on standard output, terminal or not, for it is shown this once, whoever
 * made the first start.
 */
export function printAdminKey(key: string): void {
  process.stdout.write(`\nThe first admin key, shown this once:\n\n  ${key}\n\n`);
}

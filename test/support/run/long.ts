import type { Context } from 'mocha';

/**
 * The mark in the title of a suite or test that `npm run test:long` runs and `npm test` skips. A test without it runs in
 * `npm test` only, so each test runs in exactly one of the two.
 */
export const long = '@long';

/** The timeout of a test with many rounds. */
const longTestMs = 600_000;

/** The number of rounds of a test: `few` in `npm test`, `many` in `npm run test:long`. */
export interface Rounds {
  readonly few: number;
  readonly many: number;
}

/**
 * Declares a test twice: with few rounds for `npm test`, with many for `npm run test:long`.
 * @param test takes the number of rounds
 */
export function itInRounds(
  title: string,
  { few, many }: Rounds,
  test: (this: Context, rounds: number) => Promise<void> | void,
): void {
  it(`${title}, in ${few} ${few === 1 ? 'round' : 'rounds'}`, function () {
    return test.call(this, few);
  });
  itInManyRounds(title, many, test);
}

/**
 * Declares a test with many rounds for `npm run test:long`, of what another test covers in `npm test`.
 * @param test takes the number of rounds
 */
export function itInManyRounds(
  title: string,
  rounds: number,
  test: (this: Context, rounds: number) => Promise<void> | void,
): void {
  it(`${title}, in ${rounds} rounds ${long}`, function () {
    this.timeout(longTestMs);
    return test.call(this, rounds);
  });
}

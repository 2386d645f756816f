import type { Context } from 'mocha';

/**
 * In the title of a suite or test: `npm run test:long` runs it, and `npm test` leaves it out. What has no mark is in
 * `npm test` alone, so each test is in exactly one of the two.
 */
export const long = '@long';

/** A test of many rounds may take this long. */
const longTestMs = 600_000;

/** How often a test repeats what it does: in `npm test`, and in `npm run test:long`. */
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
  it(`${title}, in ${few} rounds`, function () {
    return test.call(this, few);
  });
  it(`${title}, in ${many} rounds ${long}`, function () {
    this.timeout(longTestMs);
    return test.call(this, many);
  });
}

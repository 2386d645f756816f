import { format, median, print, printTable } from '#bench/measure.ts';
import { type Checkout, here } from './checkout.ts';

/** What one round measured. */
export interface Figure {
  readonly what: string;
  readonly value: number;
  /** The text after the value: ` ms`, `/s`. */
  readonly unit: string;
  /** Maximum ratio to the other version's figure. */
  readonly maxRatio?: number;
}

/** Starts one version, measures it once and stops it. */
export type MeasureVersion = (checkout: Checkout) => Promise<ReadonlyArray<Figure>>;

/** A figure of both versions, one value for each round. */
interface Compared {
  readonly figure: Figure;
  readonly own: number[];
  readonly others: number[];
}

/**
 * Measures this version and another one in turns, in an order that changes with each round, so that other load on the
 * machine affects both. Prints the median of each figure, and their ratio with its least and its greatest of a round.
 */
export async function compare(measure: MeasureVersion, beside: Checkout, rounds: number): Promise<void> {
  const compared = new Map<string, Compared>();
  for (let round = 0; round < rounds; round += 1) {
    for (const checkout of round % 2 === 0 ? [here, beside] : [beside, here]) {
      print(`Round ${round + 1} of ${rounds}: ${checkout.name}`);
      for (const figure of await measure(checkout)) {
        const { own, others } = entryOf(compared, figure);
        (checkout === here ? own : others).push(figure.value);
      }
    }
  }
  print();
  print(`Medians of ${rounds} rounds in turns`);
  printTable(['', here.name, beside.name, 'ratio', 'least', 'greatest', ''], [...compared.values()].map(rowOf));
}

function entryOf(compared: Map<string, Compared>, figure: Figure): Compared {
  const known = compared.get(figure.what);
  if (known !== undefined) return known;
  const entry: Compared = { figure, own: [], others: [] };
  compared.set(figure.what, entry);
  return entry;
}

function rowOf({ figure, own, others }: Compared): ReadonlyArray<string> {
  const ratio = median(own) / median(others);
  const ofRounds = own.map((value, round) => value / (others[round] ?? Number.NaN));
  return [
    figure.what,
    format(median(own)) + figure.unit,
    format(median(others)) + figure.unit,
    `${format(ratio)} ×`,
    format(Math.min(...ofRounds)),
    format(Math.max(...ofRounds)),
    verdict(ratio, figure.maxRatio),
  ];
}

function verdict(ratio: number, maxRatio: number | undefined): string {
  if (maxRatio === undefined) return '';
  return ratio <= maxRatio ? `at most ${maxRatio}: holds` : `at most ${maxRatio}: FALLS SHORT`;
}

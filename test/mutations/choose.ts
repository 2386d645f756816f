import { Random } from '#test/support/run/random.ts';
import { changesOf, parse } from './operators.ts';
import { type Place, type PlacedChange, placed } from './place.ts';

/** A source file by its path from the root of the repository. */
export interface Source {
  readonly path: string;
  readonly text: string;
}

/** A change of the list, as it is stored. */
export interface Mutation extends Place {
  readonly id: number;
  readonly file: string;
  readonly replacement: string;
}

/**
 * Chooses changes by a seed. They are spread evenly over all lines of all files, so a file has as many as its length
 * earns. In a file each operator has the same chance, because texts and numbers would be most of the changes.
 */
export function chooseMutations(sources: ReadonlyArray<Source>, count: number, seed: number): ReadonlyArray<Mutation> {
  const random = new Random(seed);
  const files = sources.map((source) => new ChangeableFile(source));
  const lines = files.flatMap((file) => Array<ChangeableFile>(file.lines).fill(file));
  const first = random.below(Math.floor(lines.length / count));
  return Array.from({ length: count }, (_, index) => {
    const from = first + Math.floor((index * lines.length) / count);
    return { id: index + 1, ...takeFrom([...lines.slice(from), ...lines.slice(0, from)], random) };
  });
}

/** Takes a change of the first file that has one left. */
function takeFrom(files: ReadonlyArray<ChangeableFile>, random: Random): Omit<Mutation, 'id'> {
  for (const file of new Set(files)) {
    const change = file.take(random);
    if (change === null) continue;
    const { operator, leading, original, following, replacement } = change;
    return { file: file.path, operator, leading, original, following, replacement };
  }
  throw new Error('The code has too few changes.');
}

class ChangeableFile {
  readonly path: string;
  readonly lines: number;
  readonly #text: string;
  #left: ReadonlyArray<PlacedChange> | null = null;

  constructor({ path, text }: Source) {
    this.path = path;
    this.lines = text.split('\n').length;
    this.#text = text;
  }

  take(random: Random): PlacedChange | null {
    this.#left ??= this.#distinctChanges();
    const byOperator = [...Map.groupBy(this.#left, ({ operator }) => operator).values()];
    if (byOperator.length === 0) return null;
    const taken = random.pick(random.pick(byOperator));
    this.#left = this.#left.filter((change) => change !== taken);
    return taken;
  }

  /** The changes whose surroundings occur once in the file. */
  #distinctChanges(): ReadonlyArray<PlacedChange> {
    const file = parse(this.path, this.#text);
    const alike = Map.groupBy(placed(file, changesOf(file)), ({ operator, leading, original, following }) =>
      [operator, leading, original, following].join('\n'),
    );
    return [...alike.values()].filter(({ length }) => length === 1).flat();
  }
}

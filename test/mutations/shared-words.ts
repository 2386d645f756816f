import type { Source } from './choose.ts';

/** A word of a path says more of what a file is about than one of its text. */
const weightOfPath = 3;

/** How much test files are about what a file is about: by the words that they share, of which rare ones count more. */
export class SharedWords {
  readonly #wordsOfTests: ReadonlyMap<string, ReadonlySet<string>>;
  readonly #testsWith = new Map<string, number>();

  constructor(tests: ReadonlyArray<Source>) {
    this.#wordsOfTests = new Map(tests.map(({ path, text }) => [path, wordsOf(`${path} ${text}`)]));
    for (const words of this.#wordsOfTests.values())
      for (const word of words) this.#testsWith.set(word, (this.#testsWith.get(word) ?? 0) + 1);
  }

  /** The test files, those first that share most with a file. */
  inOrderFor({ path, text }: Source): ReadonlyArray<string> {
    const ofPath = wordsOf(path);
    const ofFile = new Set([...ofPath, ...wordsOf(text)]);
    const weight = (word: string) => this.#rarityOf(word) * (ofPath.has(word) ? weightOfPath : 1);
    const scores = [...this.#wordsOfTests].map(([test, words]) => {
      const shared = [...ofFile].filter((word) => words.has(word));
      const score = shared.reduce((sum, word) => sum + weight(word), 0) / Math.sqrt(words.size);
      return { test, score };
    });
    return scores.sort((one, other) => other.score - one.score).map(({ test }) => test);
  }

  #rarityOf(word: string): number {
    return Math.log(this.#wordsOfTests.size / (this.#testsWith.get(word) ?? 1));
  }
}

/** A name in camel case has its parts as words. */
function wordsOf(text: string): ReadonlySet<string> {
  return new Set([...text.matchAll(/[A-Z]?[a-z]{2,}/g)].map(([word]) => word.toLowerCase()));
}

import ret, { type Set as CharacterSet, type Root, type Token, types } from 'ret';
import { type SampleBudget, UnfitSchemaError } from './sample-budget.ts';

/** The module itself is the tokenizer, but its types declare the tokenizer as the member `default`. */
const tokenize = ret as unknown as (pattern: string) => Root;

const maxLength = 10_000;
const maxPatternLength = 1_000;
/** The price of a character of a pattern, which is read once. */
const unitsPerCharacter = 10;

/** Printable ASCII, letters and digits first: the candidates for a negated class. */
const candidates = Array.from({ length: 95 }, (_, index) => 32 + index).toSorted(
  (one, other) => Number(isWord(other)) - Number(isWord(one)) || one - other,
);

/**
 * Makes a text that a pattern matches: the first of each alternative, the fewest of each repetition. The pattern is
 * never run, because a caller's pattern could take forever.
 * @throws UnfitSchemaError for a pattern with lookaround or a back reference, and for one whose texts are long
 */
export function samplePattern(pattern: string, budget: SampleBudget): string {
  if (pattern.length > maxPatternLength) throw unknownPattern(`has more than ${maxPatternLength} characters`);
  budget.spend(pattern.length * unitsPerCharacter);
  const text = new PatternText(budget);
  const { options, stack } = parsed(pattern);
  text.addAll(options?.[0] ?? stack ?? []);
  return text.value;
}

function parsed(pattern: string): Root {
  try {
    return tokenize(pattern);
  } catch {
    throw new UnfitSchemaError(`The pattern ${pattern} cannot be read.`);
  }
}

/** A text that grows token by token. */
class PatternText {
  value = '';
  readonly #budget: SampleBudget;
  /** After `$`. */
  #hasEnded = false;

  constructor(budget: SampleBudget) {
    this.#budget = budget;
  }

  addAll(tokens: ReadonlyArray<Token>): void {
    for (const token of tokens) this.#add(token);
  }

  #add(token: Token): void {
    this.#budget.spend(1);
    switch (token.type) {
      case types.CHAR:
        this.#append(token.value);
        break;
      case types.SET:
        this.#append(memberOf(token, this.#budget));
        break;
      case types.GROUP:
        if (token.followedBy || token.notFollowedBy || token.lookBehind) throw unknownPattern('looks around');
        this.addAll(token.options?.[0] ?? token.stack ?? []);
        break;
      case types.REPETITION:
        this.#repeat(token.value, token.min);
        break;
      case types.POSITION:
        this.#hold(token.value);
        break;
      case types.REFERENCE:
        throw unknownPattern('looks back');
    }
  }

  #repeat(token: Token, times: number): void {
    for (let time = 0; time < times; time += 1) {
      const before = this.value.length;
      this.#add(token);
      // Repeating an empty text gives an empty text.
      if (this.value.length === before) return;
    }
  }

  #append(code: number): void {
    if (this.#hasEnded) throw unknownPattern('continues after its end');
    if (this.value.length >= maxLength) throw unknownPattern(`needs more than ${maxLength} characters`);
    this.#budget.spendOnResult(1);
    this.value += String.fromCodePoint(code);
  }

  #hold(position: '$' | '^' | 'b' | 'B'): void {
    if (position === '$') this.#hasEnded = true;
    else if (position !== '^' || this.value !== '') throw unknownPattern('has a boundary in the middle');
  }
}

function unknownPattern(what: string): UnfitSchemaError {
  return new UnfitSchemaError(`The sandbox makes no text for a pattern that ${what}.`);
}

/** A character of a class. */
function memberOf(set: CharacterSet, budget: SampleBudget): number {
  const [first] = set.set;
  if (!set.not && first?.type === types.CHAR) return first.value;
  if (!set.not && first?.type === types.RANGE) return first.from;
  budget.spend(candidates.length * set.set.length);
  const found = candidates.find((code) => contains(set, code));
  if (found === undefined) throw unknownPattern('has a class of characters beyond ASCII');
  return found;
}

function contains({ set, not }: CharacterSet, code: number): boolean {
  const isIn = set.some((member) => {
    if (member.type === types.RANGE) return code >= member.from && code <= member.to;
    return member.type === types.SET ? contains(member, code) : member.value === code;
  });
  return isIn !== not;
}

function isWord(code: number): boolean {
  return /\w/.test(String.fromCodePoint(code));
}

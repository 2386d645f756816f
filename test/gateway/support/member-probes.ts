import type { Json, JsonObject } from '#shared/json/json.ts';
import type { Members, RequestTypes, Shape } from './request-members.ts';

/** The text that is looked for at the provider. */
export const mark = 'probe';

/** A value of one member in a request. */
export interface Probe {
  /** The place of the member, with `*` for places in lists. */
  readonly pointer: string;
  readonly value: Json;
  readonly body: JsonObject;
  /** The request without the member, or with each other value of one that must be there. */
  readonly without: ReadonlyArray<JsonObject>;
  /** The probes of the members inside of the value. */
  readonly inside: () => Iterable<Probe>;
}

/** Puts a value into a request. */
type Wrap = (value: Json) => JsonObject;

/** A value that a member may have. */
interface Variant {
  readonly value: Json;
  /** The members of the object in it; null without one. */
  readonly members: Members | null;
  /** The object's place in the value. */
  readonly place: string;
  /** The value with another object in the place of its own. */
  readonly around: (object: Json) => Json;
}

/** Makes requests that each have one more member than another. */
export class MemberProbes {
  readonly #types: RequestTypes['types'];
  readonly #conversation: (message: JsonObject) => ReadonlyArray<Json>;

  /** @param conversation puts a message or an item between those that it needs */
  constructor(types: RequestTypes['types'], conversation: (message: JsonObject) => ReadonlyArray<Json>) {
    this.#types = types;
    this.#conversation = conversation;
  }

  /** The probes of a request's members. @param base the request without any of them that may be missing */
  of(request: string, base: JsonObject): Iterable<Probe> {
    return this.#probesIn(this.#types[request] ?? {}, base, '', (body) => body as JsonObject, []);
  }

  *#probesIn(
    members: Members,
    base: JsonObject,
    pointer: string,
    wrap: Wrap,
    around: ReadonlyArray<Members>,
  ): Iterable<Probe> {
    if (around.includes(members)) return;
    for (const [key, shape] of [...Object.entries(members), unknownMember]) {
      const name = key.replace('?', '');
      const variants = this.#variantsOf(shape, name);
      // One value alone says what the object is.
      if (!key.endsWith('?') && variants.length === 1 && isLiteral(shape)) continue;
      for (const variant of variants) {
        const { value, place } = variant;
        const put = (given: Json): JsonObject => wrap({ ...base, [name]: given });
        const others = variants.filter((each) => each !== variant).map((each) => put(each.value));
        yield {
          pointer: `${pointer}/${name}`,
          value,
          body: put(value),
          without: key.endsWith('?') ? [wrap(base)] : others.length > 0 ? others : [put(null)],
          inside: () =>
            variant.members === null
              ? []
              : this.#probesIn(
                  variant.members,
                  this.#leastOf(variant.members, 0),
                  `${pointer}/${name}${place}`,
                  (object) => put(variant.around(object)),
                  [...around, members],
                ),
        };
      }
    }
  }

  #variantsOf(shape: Shape, name: string): ReadonlyArray<Variant> {
    if (shape === 'null') return [];
    if (shape === 'boolean') return [true, false].map(plain);
    if (shape === 'number') return [plain(7)];
    if (shape === 'string') return [plain(textOf(name, mark))];
    if (shape === 'any') return [plain({ [mark]: mark })];
    const members = this.#membersOf(shape);
    if (members !== null) return [{ value: this.#leastOf(members, 0), members, place: '', around: (object) => object }];
    if (typeof shape === 'string') throw new Error(`The type ${shape} is not there.`);
    if ('is' in shape) return [plain(shape.is)];
    if ('map' in shape) return [plain({ [mark]: mark })];
    if ('oneOf' in shape) return shape.oneOf.flatMap((each) => this.#variantsOf(each, name));
    if (!('list' in shape)) return [];
    const listed = (object: Json): Json =>
      name === 'messages' || name === 'input' ? this.#conversation(object as JsonObject) : [object];
    return this.#variantsOf(shape.list, name).map(({ value, members: inside, place, around }) => ({
      value: listed(value),
      members: inside,
      place: `/*${place}`,
      around: (object) => listed(around(object)),
    }));
  }

  #membersOf(shape: Shape): Members | null {
    if (typeof shape === 'string') return this.#types[shape] ?? null;
    return 'members' in shape ? shape.members : null;
  }

  /** An object with the members that it must have. */
  #leastOf(members: Members, depth: number): JsonObject {
    const needed = Object.entries(members).filter(([key]) => !key.endsWith('?') || alsoNeeded.has(key));
    return Object.fromEntries(
      needed.map(([key, shape]) => [key.replace('?', ''), this.#least(shape, key.replace('?', ''), depth)]),
    );
  }

  #least(shape: Shape, name: string, depth: number): Json {
    if (shape === 'null' || shape === 'boolean') return shape === 'null' ? null : false;
    if (shape === 'number') return 5;
    if (shape === 'string') return textOf(name, 'base');
    if (shape === 'any') return {};
    const members = this.#membersOf(shape);
    if (members !== null) return depth > 6 ? {} : this.#leastOf(members, depth + 1);
    if (typeof shape === 'string') throw new Error(`The type ${shape} is not there.`);
    if ('is' in shape) return shape.is;
    if ('oneOf' in shape) {
      const usual = shape.oneOf.find((each) => isLiteral(each) && usualValues.has((each as { is: Json }).is));
      return this.#least(usual ?? shape.oneOf.find((each) => each !== 'null') ?? 'null', name, depth);
    }
    if (!('list' in shape)) return name === 'schema' ? { type: 'object' } : {};
    return name === 'content' ? [this.#least(shape.list, name, depth + 1)] : [];
  }
}

/** One that no SDK lists, in every object. */
const unknownMember = ['not_listed?', 'string'] as const;

function plain(value: Json): Variant {
  return { value, members: null, place: '', around: (object) => object };
}

function isLiteral(shape: Shape): boolean {
  return typeof shape === 'object' && 'is' in shape;
}

/** Members that may be missing by the types, without which their objects say nothing. */
const alsoNeeded = new Set(['schema?', 'image_url?', 'file_data?']);

/** Values with which an object may have most of the other members. */
const usualValues = new Set<Json>(['user', 'completed']);

/** Texts that must have a form of their own. */
const texts: Readonly<Record<string, (text: string) => string>> = {
  arguments: (text) => JSON.stringify({ text }),
  url: (text) => `https://example.com/${text}`,
  image_url: (text) => `https://example.com/${text}`,
  file_url: (text) => `https://example.com/${text}`,
  refusal: (text) => `not ${text}`,
  file_data: (text) => `data:application/pdf;base64,${text}`,
};

function textOf(name: string, text: string): string {
  return texts[name]?.(text) ?? text;
}

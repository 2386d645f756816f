import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { post } from '#application/operations/operation.ts';
import type { Failure, InputError } from '#domain/shared/failure.ts';
import { openAiErrors } from '#exchange/error-form.ts';
import { invalidInput, maxInputErrors } from '#exchange/input-errors.ts';
import {
  checkText,
  continueRead,
  inputError,
  type JsonRequest,
  MemberCollector,
  type ReadBody,
  readMembers,
  scalarMember,
  spellingFaults,
  wantedNames,
} from '#gateway/framing/json-members.ts';
import { nullable } from '#shared/codecs/choice.ts';
import { jsonObject } from '#shared/codecs/json-value.ts';
import { integer } from '#shared/codecs/number.ts';
import type { Json } from '#shared/json/json.ts';
import type { JsonListener } from '#shared/json/json-scanner.ts';
import { endpoint } from './endpoint.ts';
import { relayFailures } from './failures.ts';
import { relayedWhole, type WholeRequest } from './relayed-whole.ts';

const token = integer(0, Number.MAX_SAFE_INTEGER);

/** A text or tokens, or a list of these. */
const embeddingInput = t.union([
  t.string,
  t.readonlyArray(t.string),
  t.readonlyArray(token),
  t.readonlyArray(t.readonlyArray(token)),
]);

const Embeddings = t.intersection(
  [
    t.type({ data: t.array(jsonObject) }),
    t.partial({ object: t.string, model: t.string, usage: nullable(jsonObject) }),
  ],
  'Embeddings',
);

/** See https://platform.openai.com/docs/api-reference/embeddings/create. */
export const createEmbeddings = endpoint({
  about: {
    name: 'create_embeddings',
    summary: 'Embed texts',
    description:
      'As OpenAI’s. `model` is a tag of the catalogue, or `auto`. Only targets whose vectors can be compared are asked: the first one, those with the same model, and those that the configuration calls `interchangeable`.',
    group: 'Gateway',
    example: {
      input: { model: 'auto', input: 'When do you open?' },
      output: {
        object: 'list',
        data: [{ object: 'embedding', index: 0, embedding: [0.6, -0.8] }],
        model: 'text-embedding-3-small',
        usage: { prompt_tokens: 4, total_tokens: 4 },
      },
    },
  },
  http: post('/v1/embeddings'),
  access: { scope: 'gateway:write' },
  input: t.intersection([
    t.type({ model: t.string, input: embeddingInput }),
    t.partial({ dimensions: nullable(integer(1, 1_000_000)), encoding_format: nullable(t.string) }),
  ]),
  output: Embeddings,
  failures: relayFailures,
  errors: openAiErrors,
  recordedAs: 'embeddings',
  route: (catalogue, { model }) => catalogue.embeddings(model),
  ...relayedWhole({ path: '/embeddings', requiredMember: 'data', read: readEmbeddingRequest }),
});

const names = wantedNames({ model: [], input: [], dimensions: [], encoding_format: [] }, ['model']);

function readEmbeddingRequest(bytes: Buffer, maxValues: number): ReadBody<WholeRequest> {
  const listener = new InputListener(bytes);
  const read = readMembers(bytes, listener.members, maxValues, listener);
  return continueRead(read, (request) => checkEmbeddingRequest(request, listener));
}

function checkEmbeddingRequest(request: JsonRequest, listener: InputListener): E.Either<Failure, WholeRequest> {
  const { bytes, members } = request;
  const [model, input] = [scalarMember(bytes, members, 'model'), scalarMember(bytes, members, 'input')];
  const faults = [
    ...spellingFaults(members.otherSpellings, ['model']),
    ...checkText('/model', model),
    ...inputFaults(input, listener),
    ...dimensionFaults(scalarMember(bytes, members, 'dimensions')),
    ...formatFaults(scalarMember(bytes, members, 'encoding_format')),
  ];
  if (faults.length > 0) return E.left(invalidInput(faults));
  return E.right({ ...request, isStreamed: false, model: model as string });
}

function inputFaults(input: Json | undefined, { items, faults }: InputListener): ReadonlyArray<InputError> {
  const pointer = '/input';
  if (input === undefined) return [{ pointer, message: 'is required' }];
  if (typeof input === 'string') return [];
  if (!Array.isArray(input)) return [inputError(pointer, 'must be a string, or a list of strings or tokens', input)];
  return items === 0 ? [{ pointer, message: 'must not be empty' }] : faults;
}

function dimensionFaults(dimensions: Json | undefined): ReadonlyArray<InputError> {
  const isFit =
    dimensions === undefined || dimensions === null || (Number.isSafeInteger(dimensions) && Number(dimensions) > 0);
  return isFit ? [] : [inputError('/dimensions', 'must be a whole number above 0', dimensions)];
}

function formatFaults(format: Json | undefined): ReadonlyArray<InputError> {
  const isFit = format === undefined || format === null || format === 'float' || format === 'base64';
  return isFit ? [] : [inputError('/encoding_format', 'must be "float" or "base64"', format)];
}

const quote = 0x22;
const minus = 0x2d;
const openBracket = 0x5b;

class InputListener implements JsonListener {
  readonly maxLevel = 2;
  readonly members: MemberCollector;
  items = 0;
  /** The faults of the items, at most 100. */
  faults: InputError[] = [];
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.members = new MemberCollector(bytes, names);
  }

  begin(level: number, start: number, nameStart: number, nameEnd: number): void {
    this.members.begin(level, start, nameStart, nameEnd);
    if (this.members.current !== 'input') return;
    if (level === 1) {
      this.items = 0;
      this.faults = [];
    } else this.#checkItem(this.#bytes[start] as number);
  }

  end(level: number, end: number): void {
    this.members.end(level, end);
  }

  #checkItem(first: number): void {
    const isFit = first === quote || first === openBracket || first === minus || (first >= 0x30 && first <= 0x39);
    if (!isFit && this.faults.length < maxInputErrors) {
      const message = 'must be a string, a token or a list of tokens';
      this.faults.push({ pointer: `/input/${this.items}`, message });
    }
    this.items += 1;
  }
}

import * as E from 'fp-ts/lib/Either.js';
import type { Failure, InputError } from '#domain/shared/failure.ts';
import { invalidInput, maxInputErrors } from '#exchange/input-errors.ts';
import { MemberCollector, scalarMember, wantedNames } from '#gateway/framing/json-members.ts';
import { continueRead, type JsonRequest, type ReadBody, readMembers } from '#gateway/framing/json-request.ts';
import { checkText, inputError, spellingFaults } from '#gateway/framing/member-checks.ts';
import type { Json } from '#shared/json/json.ts';
import type { JsonListener } from '#shared/json/json-scanner.ts';
import type { WholeOperation, WholeRequest } from './whole-operation.ts';

/** `POST /v1/embeddings` (https://platform.openai.com/docs/api-reference/embeddings/create). */
export const embeddings: WholeOperation = {
  operation: 'embeddings',
  path: '/embeddings',
  requiredMember: 'data',
  read: readEmbeddingRequest,
  route: (catalogue, model) => catalogue.embeddings(model),
};

/** The members of a request that the gateway checks. */
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
  return E.right({ ...request, model: model as string });
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

/** Collects the members of a request, and checks the items of a list of inputs. */
class InputListener implements JsonListener {
  readonly maxLevel = 2;
  readonly members: MemberCollector;
  /** The number of items in the last `input`. */
  items = 0;
  /** The faults of its items, at most 100. */
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

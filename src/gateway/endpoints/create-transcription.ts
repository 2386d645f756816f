import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { post } from '#application/operations/operation.ts';
import { notFound } from '#domain/shared/access.ts';
import type { Failure, InputError } from '#domain/shared/failure.ts';
import { arrivalFailure, bodyTooLarge } from '#exchange/body.ts';
import { openAiErrors } from '#exchange/error-form.ts';
import { invalidInput } from '#exchange/input-errors.ts';
import { boundaryOf, type FormPart, MultipartScanner, multipartFailure, notMultipart } from '#exchange/multipart.ts';
import { AudioResponse } from '#gateway/audio/audio-response.ts';
import { formBody } from '#gateway/audio/form-body.ts';
import { readFormFields } from '#gateway/audio/form-fields.ts';
import { prepareRequests } from '#gateway/audio/prepared-requests.ts';
import type { Piece, Spool } from '#gateway/audio/spool.ts';
import { spellingFaults } from '#gateway/framing/json-members.ts';
import type { GatewayCall, RelayedCall, RelayedInput } from '#gateway/gateway-call.ts';
import type { ProviderTranscription } from '#gateway/providers/provider.ts';
import { forwardedHeaders } from '#gateway/relay/requests.ts';
import { withJsonSchema } from '#shared/codecs/json-schema.ts';
import { endpoint, type LineOfBatch } from './endpoint.ts';
import { relayFailures } from './failures.ts';

/** A file in a multipart body. */
const binary = withJsonSchema(new t.Type<unknown>('binary', (_): _ is unknown => true, t.success, t.identity), {
  type: 'string',
  format: 'binary',
});

export const createTranscription = endpoint({
  about: {
    name: 'create_transcription',
    summary: 'Transcribe audio',
    description:
      'As OpenAI’s. `model` is a tag of the catalogue, or `auto`. Every other field is passed on as it is. Text formats come as text.',
    group: 'Gateway',
    example: {
      input: { file: 'speech.mp3', model: 'auto', language: 'en', response_format: 'json' },
      output: { text: 'Hello' },
    },
  },
  http: post('/v1/audio/transcriptions'),
  access: { scope: 'gateway:write' },
  consumes: 'multipart/form-data',
  input: t.intersection([
    t.type({ file: binary, model: t.string }),
    t.partial({ language: t.string, response_format: t.string }),
  ]),
  output: t.type({ text: t.string }, 'Transcription'),
  produces: ['text/plain', 'text/vtt', 'text/event-stream'],
  failures: relayFailures,
  errors: openAiErrors,
  fromLine: formOfLine,
  recordedAs: 'transcription',
  isMadeInSilence: true,
  read: readTranscription,
  route: (catalogue, { model }) => catalogue.transcription(model),
  requests: (call, route) =>
    prepareRequests(call.configuration, route, (provider, { model }) =>
      provider.transcription?.(transcriptionFor(call, model)),
    ),
  responder: (call) => new AudioResponse(call, 'whole'),
});

async function formOfLine(
  call: GatewayCall,
  { body: line, fileId }: LineOfBatch,
): Promise<E.Either<Failure, GatewayCall>> {
  if (fileId === null) return E.left(noFile);
  const file = await call.gateway.findFile(fileId, call.caller.projectId);
  if (file === null) return E.left(notFound('file-not-found', fileId));
  const fields = await readFormFields(line, call.limits.maxJsonValues, call.held.body);
  if (E.isLeft(fields)) return fields;
  const { contentType, body } = formBody(fields.right, file);
  return E.right({ ...call, headers: { ...call.headers, 'content-type': contentType }, body });
}

const noFile = invalidInput([{ pointer: '/file', message: 'must be the id of a file' }]);

/** Reads the upload. A request that passes closes it at the end of its call, and any other one here. */
async function readTranscription(call: GatewayCall): Promise<E.Either<Failure, TranscriptionRequest>> {
  const spool = call.gateway.spools.open(call.caller.projectId, call.held.body);
  let read: E.Either<Failure, TranscriptionRequest> | null = null;
  try {
    const upload = await receive(call, spool);
    read = E.isLeft(upload) ? upload : readUpload(upload.right);
    return read;
  } finally {
    if (read === null || E.isLeft(read)) await spool.close();
  }
}

interface Upload {
  readonly spool: Spool;
  readonly parts: ReadonlyArray<FormPart>;
  readonly contentType: string;
}

/** A checked upload. */
interface TranscriptionRequest extends Upload, RelayedInput {
  readonly file: FormPart;
  readonly model: string;
  /** The texts in order, without the file. */
  readonly fields: ProviderTranscription['fields'];
}

async function receive(
  { headers, body, held, limits: { maxAudioBytes: maxBytes, arrival: limits } }: GatewayCall,
  spool: Spool,
): Promise<E.Either<Failure, Upload>> {
  const contentType = headers['content-type'] ?? '';
  const boundary = boundaryOf(contentType);
  const encoding = headers['content-encoding'] ?? 'identity';
  if (boundary === null || encoding.toLowerCase() !== 'identity') return E.left(notMultipart);
  if (body.announcedBytes > maxBytes) return E.left(bodyTooLarge(maxBytes));
  if (!body.isPresent) return E.left(multipartFailure({ fault: 'ended-early', faultyPart: null }));
  const shortage = await spool.shortageOf(body.announcedBytes);
  if (shortage !== null) return E.left(shortage);
  const scanner = new MultipartScanner(boundary);
  const arrival = await body.receive(limits, held.body, async (piece) => {
    scanner.push(piece);
    if (scanner.fault !== null || spool.bytes + piece.length > maxBytes) return false;
    return spool.write(piece);
  });
  if (scanner.fault !== null && arrival === 'stopped') return E.left(multipartFailure(scanner));
  if (spool.refusal !== null) return E.left(spool.refusal);
  const failed = arrivalFailure(arrival, maxBytes);
  if (failed !== null) return E.left(failed);
  scanner.finish();
  if (scanner.fault !== null) return E.left(multipartFailure(scanner));
  if (!(await spool.finish()) && spool.refusal !== null) return E.left(spool.refusal);
  return E.right({ spool, parts: scanner.parts, contentType });
}

function readUpload(upload: Upload): E.Either<Failure, TranscriptionRequest> {
  const { parts, spool } = upload;
  const file = parts.findLast(({ name }) => name === 'file');
  const model = parts.findLast(({ name }) => name === 'model')?.text;
  const faults = [
    ...spellingFaults(new Set(parts.map(({ name }) => name)), ['model']),
    ...requiredFaults('model', model),
    ...fileFaults(parts),
  ];
  if (faults.length > 0 || file === undefined || model == null) return E.left(invalidInput(faults));
  const fields = parts.flatMap(({ name, text }) => (text === null ? [] : [[name, text] as const]));
  const isStreamed = fields.findLast(([name]) => name === 'stream')?.[1] === 'true';
  return E.right({ ...upload, file, model, fields, isStreamed, close: () => spool.close() });
}

function transcriptionFor(
  { headers, caller, input }: RelayedCall<TranscriptionRequest>,
  model: string,
): ProviderTranscription {
  const { spool, contentType, file, fields, isStreamed: streams } = input;
  return {
    body: spool.body(withModel(input, model)),
    contentType,
    streams,
    model,
    fields,
    fileBytes: file.end - file.contentStart,
    around: (before, after) => spool.body([before, { start: file.start, end: file.end }, after]),
    forwarded: forwardedHeaders(headers, caller.projectId),
  };
}

/** Replaces the model in every part that names one. All other bytes stay unchanged. */
function withModel({ spool, parts }: Upload, model: string): ReadonlyArray<Piece> {
  const pieces: Piece[] = [];
  let from = 0;
  for (const { name, contentStart, end } of parts) {
    if (name !== 'model') continue;
    pieces.push({ start: from, end: contentStart }, Buffer.from(model));
    from = end;
  }
  return [...pieces, { start: from, end: spool.bytes }];
}

function requiredFaults(name: string, value: unknown): ReadonlyArray<InputError> {
  if (value === undefined) return [{ pointer: `/${name}`, message: 'is required' }];
  return value === null ? [{ pointer: `/${name}`, message: 'must be a text, not a file' }] : [];
}

/** A text under the name of the file is refused, because a provider may read it as a path or an address. */
function fileFaults(parts: ReadonlyArray<FormPart>): ReadonlyArray<InputError> {
  const files = parts.filter(({ name }) => name === 'file');
  if (files.length === 0) return [{ pointer: '/file', message: 'is required' }];
  return files.every(({ filename }) => filename !== null)
    ? []
    : [{ pointer: '/file', message: 'must be a file, with a filename' }];
}

import * as E from 'fp-ts/lib/Either.js';
import type { Failure, InputError } from '#domain/shared/failure.ts';
import { arrivalFailure, bodyTooLarge } from '#exchange/body-source.ts';
import { invalidInput } from '#exchange/input-errors.ts';
import { boundaryOf, MultipartScanner, multipartFailure, notMultipart, type Part } from '#exchange/multipart.ts';
import { spellingFaults } from '#gateway/framing/member-checks.ts';
import { type CallResult, catalogueFailure, type GatewayCall, type GatewayLimits } from '#gateway/gateway-call.ts';
import { forwardedHeaders, type ProviderTranscription } from '#gateway/providers/provider.ts';
import { relay } from '#gateway/relay/relay.ts';
import { AudioResponse } from './audio-response.ts';
import { prepareRequests } from './prepared-requests.ts';
import type { Piece, Spool } from './spool.ts';

/** An upload as it was sent. */
interface Upload {
  readonly spool: Spool;
  readonly parts: ReadonlyArray<Part>;
  readonly contentType: string;
}

/** Answers `POST /v1/audio/transcriptions`. */
export async function createTranscription(call: GatewayCall, limits: GatewayLimits): Promise<CallResult> {
  const spool = call.gateway.spools.open(call.caller.projectId, call.bodyHold);
  try {
    const upload = await receive(call, spool, limits);
    return E.isLeft(upload) ? upload : await relayUpload(call, upload.right);
  } finally {
    await spool.close();
  }
}

async function receive(
  { headers, body, bodyHold }: GatewayCall,
  spool: Spool,
  { maxAudioBytes: maxBytes, arrival: limits }: GatewayLimits,
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
  const arrival = await body.receive(limits, bodyHold, async (piece) => {
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

async function relayUpload(call: GatewayCall, upload: Upload): Promise<CallResult> {
  const { parts } = upload;
  const file = parts.findLast(({ name }) => name === 'file');
  const model = parts.findLast(({ name }) => name === 'model')?.text;
  const faults = [
    ...spellingFaults(new Set(parts.map(({ name }) => name)), ['model']),
    ...requiredFaults('model', model),
    ...fileFaults(parts),
  ];
  if (faults.length > 0 || file === undefined || model == null) return E.left(invalidInput(faults));
  const route = call.configuration.catalogue.transcription(model);
  if (E.isLeft(route)) return E.left(catalogueFailure(route.left));
  const fields = parts.flatMap(({ name, text }) => (text === null ? [] : [[name, text] as const]));
  const streams = fields.findLast(([name]) => name === 'stream')?.[1] === 'true';
  const requests = prepareRequests(call.configuration, route.right, (provider, target) =>
    provider.transcription?.(transcriptionFor(call, upload, file, target.model, fields, streams)),
  );
  if ('code' in requests) return E.left(requests);
  const report = await relay(
    { ...call, recordedAs: 'transcription', isMadeInSilence: !streams, input: { isStreamed: streams } },
    { route: route.right, requests, responder: new AudioResponse(call, 'whole') },
  );
  return E.right(report);
}

function transcriptionFor(
  { headers, caller }: GatewayCall,
  upload: Upload,
  file: Part,
  model: string,
  fields: ProviderTranscription['fields'],
  streams: boolean,
): ProviderTranscription {
  const { spool, contentType } = upload;
  return {
    body: spool.body(withModel(upload, model)),
    contentType,
    streams,
    model,
    fields,
    fileBytes: file.end - file.contentStart,
    around: (before, after) => spool.body([before, { start: file.start, end: file.end }, after]),
    forwarded: forwardedHeaders(headers, caller.projectId),
  };
}

/** The upload with another model in every part that names one. All other bytes stay unchanged. */
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
function fileFaults(parts: ReadonlyArray<Part>): ReadonlyArray<InputError> {
  const files = parts.filter(({ name }) => name === 'file');
  if (files.length === 0) return [{ pointer: '/file', message: 'is required' }];
  return files.every(({ filename }) => filename !== null)
    ? []
    : [{ pointer: '/file', message: 'must be a file, with a filename' }];
}

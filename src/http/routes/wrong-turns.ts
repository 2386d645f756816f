import { distance } from 'fastest-levenshtein';
import type { AnyOperation } from '#application/operations/operation.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { type ErrorForm, openAiErrors } from '#exchange/error-form.ts';

/** Beginnings of paths of OpenAI's and Anthropic's APIs that generate text: a client can use another one instead. */
const textPaths = [
  '/v1/responses',
  '/v1/completions',
  '/v1/assistants',
  '/v1/threads',
  '/v1/conversations',
  '/v1/messages',
];

/** A method of Gemini's API, after the name of a model (https://ai.google.dev/api). */
const geminiMethod = /^\/v1(?:beta|alpha)?\/(?:models|tunedModels)\/[^/]+:([a-zA-Z]+)$/;

/**
 * Operations whose paths have the form of a served one, `/v1/responses/{response_id}`
 * (https://platform.openai.com/docs/api-reference/responses): no response has such an id.
 */
export const unservedPaths: ReadonlySet<string> = new Set(['/v1/responses/compact', '/v1/responses/input_tokens']);

/**
 * Beginnings of other paths of OpenAI's API, and those of Cohere's and Jina's API for ranking texts. Those of served
 * endpoints come from the table.
 */
const otherPaths = [
  '/v1/batches',
  '/v1/chatkit',
  '/v1/containers',
  '/v1/edits',
  '/v1/engines',
  '/v1/evals',
  '/v1/files',
  '/v1/fine_tuning',
  '/v1/fine-tunes',
  '/v1/images',
  '/v1/moderations',
  '/v1/organization',
  '/v1/realtime',
  '/v1/rerank',
  '/v2/rerank',
  '/v1/skills',
  '/v1/uploads',
  '/v1/vector_stores',
  '/v1/videos',
];

/** Finds the form of errors for a path without an operation: that of the endpoint that it begins with. */
export function createFormOfPath(operations: ReadonlyArray<AnyOperation>): (path: string) => ErrorForm {
  const forms = operations.filter(isEndpoint).map(({ http, errorForm }) => [http.path, errorForm?.({})] as const);
  return (path) => forms.find(([served]) => isWithin(path, served))?.[1] ?? openAiErrors;
}

/** Says for a path without an operation what is right; null if nothing resembles the path. */
export type FindWrongTurn = (path: string) => Failure | null;

/** Finds a path of Gemini, also where the method is part of the name of a model; null for a path of another API. */
export function findGeminiPath(path: string): Failure | null {
  const [, method] = geminiMethod.exec(path) ?? [];
  if (method === undefined) return null;
  const instead = /embed/i.test(method) ? '/v1/embeddings' : '/v1/chat/completions';
  return failure(
    'unsupported-endpoint',
    `Switchyard does not serve ${shown(path)}, which is Gemini's API: call ${instead} with the name of the model in the body.`,
  );
}

/** @param operations the served ones: the message names them */
export function createFindWrongTurn(operations: ReadonlyArray<AnyOperation>): FindWrongTurn {
  const ofGateway = operations.filter(({ plane }) => plane === 'gateway');
  const paths = [...new Set(ofGateway.map(({ http }) => http.path))];
  const openAis = [...textPaths, ...otherPaths, ...operations.filter(isEndpoint).map(({ http }) => rootOf(http.path))];
  const isOpenAis = (path: string) => openAis.some((of) => isWithin(path, of));
  const served = paths.filter((path) => isOpenAis(path) && !path.includes(':')).sort();
  const forms = paths.map((path) => new RegExp(`^${path.replace(/:\w+/g, '[^/]+')}$`));
  const known = [...new Set(operations.map(({ http }) => http.path))].map((each) => each.split('/'));
  return (path) => {
    const meant = pathBelowV1(path);
    if (unservedPaths.has(meant)) return unsupported(path, served);
    if (meant !== path && forms.some((form) => form.test(meant)))
      return failure('unsupported-endpoint', misplaced(path, meant));
    const near = nearestOf(known, path);
    if (!isOpenAis(path))
      return near === null
        ? null
        : failure('path-not-found', `There is nothing at ${shown(path)}. The nearest is ${near}.`);
    if (near !== null)
      return failure('unsupported-endpoint', `Switchyard does not serve ${shown(path)}. The nearest is ${near}.`);
    return unsupported(path, served);
  };
}

function unsupported(path: string, served: ReadonlyArray<string>): Failure {
  const hint = textPaths.some((of) => isWithin(pathBelowV1(path), of))
    ? 'Use /v1/responses or /v1/chat/completions.'
    : 'Give the client of these calls the base URL of a provider that has them.';
  return failure(
    'unsupported-endpoint',
    `Switchyard does not serve ${shown(path)}. It serves ${served.join(', ')}. ${hint}`,
  );
}

/** The path that a client asks for whose base URL has no /v1, or two, or a slash too many. */
function pathBelowV1(path: string): string {
  const clean = path.replace(/\/{2,}/g, '/').replace(/\/$/, '');
  return `/v1${clean.replace(/^(?:\/v1)+(?=\/)/, '')}`;
}

/** Maximum number of letters that are added, left out or changed. */
const maxDifferences = 3;

/** Paths are given in segments. Null if none is near. Ids in the path match any id. */
function nearestOf(known: ReadonlyArray<ReadonlyArray<string>>, path: string): string | null {
  if (path.length > maxShownLength) return null;
  const segments = path.split('/');
  let nearest: string | null = null;
  let fewest = maxDifferences + 1;
  for (const parts of known) {
    if (parts.length !== segments.length) continue;
    const filled = parts.map((part, index) => (part.startsWith(':') ? segments[index] : part)).join('/');
    const differences = distance(filled, path);
    if (differences >= fewest) continue;
    fewest = differences;
    nearest = parts.join('/').replaceAll(/:(\w+)/g, '{$1}');
  }
  return nearest;
}

function misplaced(path: string, meant: string): string {
  return `Switchyard does not serve ${shown(path)}, but ${shown(meant)}: set the client's base URL to one that ends with /v1.`;
}

const maxShownLength = 100;

function shown(path: string): string {
  return path.length > maxShownLength ? `${path.slice(0, maxShownLength)}…` : path;
}

/** True if the gateway relays the operation, or answers it as a provider does. */
function isEndpoint({ plane, kind }: AnyOperation): boolean {
  return plane === 'gateway' && kind === 'streaming';
}

/** The beginning that all endpoints of its subject have: `/v1/audio`. */
function rootOf(path: string): string {
  return path.split('/').slice(0, 3).join('/');
}

function isWithin(path: string, of: string): boolean {
  return path === of || path.startsWith(`${of}/`);
}

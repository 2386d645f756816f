import * as E from 'fp-ts/lib/Either.js';
import type { DownloadOperation, OperationAbout } from '#application/operations/operation.ts';
import type { BlobStore } from '#blob-store/blob-store.ts';
import type { Tenant } from '#domain/shared/access.ts';
import type { Failure } from '#domain/shared/failure.ts';
import type { Query, Question } from './query.ts';
import {
  presentSubject,
  type QueryDependencies,
  type QuerySubject,
  queryOperation,
  questionAbout,
} from './query-handler.ts';

/** Content in the blob store. */
export interface FoundContent {
  readonly blobId: string;
  readonly contentType: string;
  readonly filename: string;
  readonly bytes: number;
  readonly etag: string;
}

/** A query whose answer is bytes. */
export interface ContentQuery<Input extends object, Subject extends Tenant>
  extends Omit<
    Query<Input, Subject, never>,
    'about' | 'output' | 'reads' | 'services' | 'answer' | 'paged' | 'hasRevision' | 'onBothPlanes'
  > {
  readonly about: Omit<OperationAbout, 'example'>;
  readonly produces: ReadonlyArray<string>;
  readonly find: (question: Question<Input, Subject>) => E.Either<Failure, FoundContent>;
}

// biome-ignore lint/suspicious/noExplicitAny: the table holds queries of every shape; each stays typed where it is made.
export type AnyContentQuery = ContentQuery<any, any>;

export function contentQuery<Input extends object, Subject extends Tenant>(
  definition: ContentQuery<Input, Subject>,
): ContentQuery<Input, Subject> {
  return definition;
}

export function downloadOperation(
  { find, produces, about, ...described }: AnyContentQuery,
  runtime: QueryDependencies & { readonly blobs: Pick<BlobStore, 'get'> },
): DownloadOperation<QuerySubject> {
  const operation = queryOperation(
    { ...described, about: { ...about, example: {} }, output: null, reads: {}, answer: () => E.left(noJson) },
    runtime,
  );
  return {
    ...operation,
    kind: 'download',
    produces,
    execute: async (valid) => {
      const subject = presentSubject(described, valid);
      if (E.isLeft(subject)) return subject;
      const found = find(questionAbout(subject.right, valid));
      if (E.isLeft(found)) return found;
      const { blobId, ...content } = found.right;
      const open = (start: number, end: number) => runtime.blobs.get(blobId, { start, end });
      return E.right({ kind: 'download', ...content, open });
    },
  };
}

const noJson: Failure = { code: 'internal-error', detail: 'A download has no JSON answer.' };

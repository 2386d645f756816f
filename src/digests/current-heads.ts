import type { Digest, StreamHead } from '#domain/history/digest.ts';
import { DigestRefusedError, leafOf } from './digest.ts';
import type { DigestStore } from './digest-store.ts';
import { mergeHeads, readHeads } from './heads-file.ts';
import { MerkleTree } from './merkle-tree.ts';
import type { ChangedHead } from './new-heads.ts';

/**
 * Reads the heads in order: from the newest file of all heads, and the files after it.
 * @throws DigestRefusedError, at the end, if the files are not those of the digest; UnavailableError
 */
export async function* headsAsOf(store: DigestStore, digest: Digest): AsyncGenerator<StreamHead, void, void> {
  const tree = new MerkleTree();
  const files = await filesUpTo(store, digest);
  for await (const head of mergeHeads(files)) {
    tree.add(leafOf(head));
    yield head;
  }
  if (tree.root().toString('hex') !== digest.root)
    throw new DigestRefusedError(
      `The files of heads in the blob store do not give the root of digest ${digest.number} of chain ${digest.chain}: ` +
        'they were altered. Run events verify --digests; once the log is known to hold, run events digest --after-restore.',
    );
}

/**
 * Reads the heads of all streams after new events.
 * @param since the digest before the new events; null if these are the whole log
 * @param changed the changed heads, in order
 * @throws DigestRefusedError if a stream's new events do not follow its earlier head; UnavailableError
 */
export async function* currentHeads(
  store: DigestStore,
  since: Digest | null,
  changed: Iterable<ChangedHead>,
): AsyncGenerator<StreamHead, void, void> {
  const news = changed[Symbol.iterator]();
  let next = news.next().value;
  for await (const head of since === null ? [] : headsAsOf(store, since)) {
    for (; next !== undefined && next.stream < head.stream; next = news.next().value) yield checkFirst(next);
    if (next?.stream === head.stream) {
      yield checkFollows(next, head);
      next = news.next().value;
    } else yield head;
  }
  for (; next !== undefined; next = news.next().value) yield checkFirst(next);
}

function checkFirst(head: ChangedHead): ChangedHead {
  if (head.follows.revision === -1 && head.follows.hash === null) return head;
  throw new DigestRefusedError(`${head.stream} has new events, and is in no digest before: its first events are gone.`);
}

function checkFollows(head: ChangedHead, before: StreamHead): ChangedHead {
  if (head.follows.revision === before.revision && head.follows.hash === before.hash) return head;
  throw new DigestRefusedError(
    `The new events of ${head.stream} do not follow revision ${before.revision}, which the digest before has: the stream ` +
      'was altered or shortened. Run events verify --digests.',
  );
}

async function filesUpTo(store: DigestStore, digest: Digest): Promise<ReadonlyArray<AsyncIterable<StreamHead>>> {
  const files: AsyncIterable<StreamHead>[] = [];
  for (let at = digest; ; at = await store.read({ chain: at.chain, number: at.number - 1 })) {
    files.unshift(readHeads(await store.heads(at)));
    if (at.headsOf === 'all') return files;
  }
}

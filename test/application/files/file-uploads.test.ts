import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as E from 'fp-ts/lib/Either.js';
import { FileSpace } from '#application/files/file-space.ts';
import { FileUploads } from '#application/files/file-uploads.ts';
import type { ReceivedUpload } from '#application/operations/operation.ts';
import { openFolderBlobStore } from '#blob-store/blob-store.folder.ts';
import type { BlobStore, ListedBlob } from '#blob-store/blob-store.ts';
import type { Failure } from '#domain/shared/failure.ts';
import { type Arrival, type Body, readNothing, type TakePiece } from '#exchange/body.ts';
import { ByteBudget } from '#exchange/byte-budget.ts';
import { ClientDisconnectedError, Held } from '#exchange/held.ts';
import { slotTable } from '#exchange/slot-table.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { callerOf } from '#test/support/events/tenants.ts';
import { requestOf } from '#test/support/harness/request-of.ts';

/** A body that arrives in pieces and then ends as the test requires. */
function arriving(bytes: Buffer, end: Arrival | Error = 'whole', announcedBytes = 0): Body {
  return {
    isPresent: true,
    announcedBytes,
    takeBuffered: () => null,
    readInput: readNothing,
    receive: async (_limits, hold, take: TakePiece) => {
      for (let at = 0; at < bytes.length; at += 50_000) {
        const piece = bytes.subarray(at, at + 50_000);
        const shortage = hold.take(piece.length);
        if (shortage !== null) return { shortage };
        if (!(await take(piece))) return 'stopped';
      }
      if (end instanceof Error) throw end;
      return end;
    },
  };
}

function form(content: Buffer, { name = 'file', more = '' } = {}): Buffer {
  return Buffer.concat([
    Buffer.from(`--x\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n${more}--x\r\n`),
    Buffer.from(`Content-Disposition: form-data; name="${name}"; filename="dir/a.jsonl"\r\n\r\n`),
    content,
    Buffer.from('\r\n--x--\r\n'),
  ]);
}

describe('FileUploads', () => {
  let folder: string;
  let blobs: BlobStore;
  let stored: number;
  let free: number;
  let blobOf: string | null;
  let lookUp: () => string | null;
  const bodies = new ByteBudget(slotTable.bytes.body.limits);

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'switchyard-uploads-'));
    blobs = await openFolderBlobStore(folder);
    stored = 0;
    free = Number.POSITIVE_INFINITY;
    blobOf = null;
    lookUp = () => blobOf;
  });
  afterEach(async () => {
    await blobs.close();
    rmSync(folder, { recursive: true, force: true });
    assert.equal(bodies.bytes, 0);
  });

  const documents = { get: async () => ({ value: { bytes: stored } }) as never };
  const space = new FileSpace({ documents, quotaBytes: 20_000_000, hasRoomFor: async (bytes) => bytes <= free });
  const receive = async (body: Body, contentType = 'multipart/form-data; boundary=x') => {
    const uploads = new FileUploads({
      blobs,
      space,
      maxFileBytes: 12_000_000,
      arrival: { idleMs: 1_000, totalMs: 1_000 },
      blobOf: async () => lookUp(),
    });
    const held = new Held('p', { body: bodies, answer: bodies });
    const headers = { 'content-type': contentType };
    try {
      return await uploads.receive(requestOf({ headers, body, held, caller: callerOf('project') }));
    } finally {
      held.release();
    }
  };
  const kept = async () => {
    const all: ListedBlob[] = [];
    for await (const blob of blobs.list('')) all.push(blob);
    return all;
  };
  const upload = async (body: Body): Promise<ReceivedUpload> => {
    const received = await receive(body);
    return E.isRight(received) ? received.right : assert.fail(JSON.stringify(received.left));
  };
  const refused = async (body: Body, code: Failure['code']) => {
    const received = await receive(body);
    assert.equal(E.isLeft(received) ? received.left.code : 'taken', code);
    assert.deepEqual(await kept(), []);
    assert.deepEqual(await space.shortageOf(callerOf('project').projectId, 20_000_000), null, 'all room is given back');
  };

  it('stores the file and answers its name, bytes and hash, with the fields of the form', async () => {
    const content = randomBytes(400_000);
    const more = '--x\r\nContent-Disposition: form-data; name="expires_after[seconds]"\r\n\r\n3600\r\n';
    const { input, release } = await upload(arriving(form(content, { more })));
    const [blob] = await kept();
    assert.deepEqual(input.fields, {
      purpose: 'batch',
      expires_after: { seconds: 3_600 },
      file: {
        blobId: blob?.id,
        bytes: content.length,
        sha256: createHash('sha256').update(content).digest('hex'),
        filename: 'a.jsonl',
        contentType: 'application/jsonl',
      },
    });
    release();
  });

  it('accepts an empty file field of another name, which a browser sends for one without a file', async () => {
    const more = '--x\r\nContent-Disposition: form-data; name="picture"; filename=""\r\n\r\n\r\n';
    const { input, release } = await upload(arriving(form(Buffer.from('a'), { more })));
    assert.equal((input.fields.file as { readonly bytes: number }).bytes, 1);
    release();
  });

  it('accepts an object in a form as JSON too, and keeps other texts unchanged', async () => {
    for (const [text, expected] of [
      ['{"anchor":"created_at","seconds":3600}', { anchor: 'created_at', seconds: 3_600 }],
      ['[1]', '[1]'],
      ['{"anchor":', '{"anchor":'],
    ] as const) {
      const more = `--x\r\nContent-Disposition: form-data; name="expires_after"\r\n\r\n${text}\r\n`;
      const { input, release } = await upload(arriving(form(Buffer.from('a'), { more })));
      assert.deepEqual(input.fields.expires_after, expected);
      release();
    }
  });

  it('hashes the contents of a form independently of its boundary', async () => {
    const content = Buffer.from('same');
    const first = await upload(arriving(form(content)));
    const second = await upload(arriving(form(content)));
    const third = await upload(arriving(form(Buffer.from('other'))));
    assert.equal(first.input.bodyHash, second.input.bodyHash);
    assert.notEqual(first.input.bodyHash, third.input.bodyHash);
    for (const { release } of [first, second, third]) release();
  });

  it('keeps nothing of a body that breaks off, arrives too slowly, is evicted or is not a form', async () => {
    const whole = form(randomBytes(300_000));
    const gone = new ClientDisconnectedError('gone');
    await assert.rejects(receive(arriving(whole.subarray(0, 200_000), gone)), ClientDisconnectedError);
    assert.deepEqual(await kept(), []);
    await refused(arriving(whole.subarray(0, 200_000)), 'invalid-input');
    await refused(arriving(whole.subarray(0, 200_000), 'too-slow'), 'body-too-slow');
    await refused(arriving(whole.subarray(0, 200_000), 'evicted'), 'body-evicted');
    await refused(arriving(form(randomBytes(300_000), { name: 'other' })), 'invalid-input');
  });

  it('refuses a file over its limit before it arrives when its length is announced, and otherwise while it arrives', async () => {
    await refused(arriving(Buffer.alloc(0), 'whole', 15_000_000), 'file-too-large');
    await refused(arriving(form(Buffer.alloc(12_000_001))), 'file-too-large');
    const { release } = await upload(arriving(form(Buffer.alloc(12_000_000))));
    release();
  });

  it('refuses a file over the quota before it arrives and at its end, and counts running uploads', async () => {
    stored = 19_000_000;
    const announced = await receive(arriving(Buffer.alloc(0), 'whole', 4_000_000));
    assert.equal(E.isLeft(announced) && announced.left.code, 'files-quota-exceeded');
    const late = await receive(arriving(form(Buffer.alloc(1_000_001))));
    assert.equal(E.isLeft(late) && late.left.code, 'files-quota-exceeded');
    assert.deepEqual(await kept(), []);
    stored = 0;
    const { release } = await upload(arriving(form(Buffer.alloc(11_000_000))));
    const second = await receive(arriving(form(Buffer.alloc(9_000_001))));
    assert.equal(E.isLeft(second) && second.left.code, 'files-quota-exceeded');
    release();
  });

  it('keeps the reserve of the disk, before an upload and during it', async () => {
    free = 1_000_000;
    await refused(arriving(Buffer.alloc(0), 'whole', 4_000_000), 'disk-full').catch(() => undefined);
    free = -1;
    const received = await receive(arriving(form(Buffer.alloc(9_000_000))));
    assert.equal(E.isLeft(received) && received.left.code, 'disk-full');
    assert.deepEqual(await kept(), []);
  });

  it('removes the blob of a failed upload, and keeps a blob that a file may have', async () => {
    const again = () => upload(arriving(form(Buffer.from('x'))));
    const used = await again();
    blobOf = (await kept())[0]?.id ?? null;
    await used.settle(E.right({ status: 200, body: { id: 'file-1' } }));
    assert.equal((await kept()).length, 1);
    const repeated = await again();
    await repeated.settle(E.right({ status: 200, body: { id: 'file-1' } }));
    const refusedOne = await again();
    await refusedOne.settle(E.left({ code: 'invalid-input', detail: '' }));
    assert.deepEqual(
      (await kept()).map(({ id }) => id),
      [blobOf],
    );
    const unsure = await again();
    await unsure.settle(E.left({ code: 'unavailable', detail: '' }));
    assert.equal((await kept()).length, 2);
    for (const { release } of [used, repeated, refusedOne, unsure]) release();
  });

  it('keeps the success and the blob of an upload whose file cannot be looked up now', async () => {
    const { settle, release } = await upload(arriving(form(Buffer.from('x'))));
    lookUp = () => {
      throw new UnavailableError('away');
    };
    await settle(E.right({ status: 200, body: { id: 'file-1' } }));
    assert.equal((await kept()).length, 1);
    release();
  });

  it('throws an UnavailableError while the blob store is away', async () => {
    blobs = {
      ...blobs,
      put: async () => Promise.reject(new UnavailableError('away')),
      close: async () => undefined,
    } as BlobStore;
    await assert.rejects(receive(arriving(form(randomBytes(3_000_000)))), UnavailableError);
  });
});

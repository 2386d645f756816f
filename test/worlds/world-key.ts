import { createPrivateKey } from 'node:crypto';

const seedOfKey = Buffer.alloc(32, 7);
/** The bytes before the seed of an Ed25519 key in PKCS #8. */
const derHead = Buffer.from('302e020100300506032b657004220420', 'hex');

/** The key that signs the digests of every world, so that their signatures are the same in each run. */
export const worldKey = createPrivateKey({
  key: Buffer.concat([derHead, seedOfKey]),
  format: 'der',
  type: 'pkcs8',
})
  .export({ format: 'pem', type: 'pkcs8' })
  .toString();

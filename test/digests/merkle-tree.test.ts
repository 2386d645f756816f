import assert from 'node:assert/strict';
import fc from 'fast-check';
import { MerkleTree } from '#digests/merkle-tree.ts';
import { rootOfProof } from '#test/support/log/root-of-proof.ts';

/** Leaves and roots from the tests of the first implementation of Certificate Transparency. */
const leaves = ['', '\x00', '\x10', '\x20\x21', '\x30\x31', '\x40\x41\x42\x43', 'PQRSTUVW', '`abcdefghijklmno'];
const roots = [
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];

function treeOf(texts: ReadonlyArray<string>, proven = -1) {
  const tree = new MerkleTree();
  for (const [index, text] of texts.entries()) tree.add(text, index === proven);
  return { root: tree.root(), path: tree.inclusionPath };
}

describe('MerkleTree', () => {
  it('computes the same roots as Certificate Transparency', () => {
    const found = roots.map((_, size) => treeOf(leaves.slice(0, size)).root.toString('hex'));
    assert.deepEqual(found, roots);
  });

  it('gives each leaf a proof that leads to the root', () => {
    for (let size = 1; size <= 33; size += 1) {
      const texts = Array.from({ length: size }, (_, index) => `leaf ${index}`);
      for (const [index, text] of texts.entries()) {
        const { root, path } = treeOf(texts, index);
        assert.deepEqual(rootOfProof(text, index, size, path), root);
      }
    }
  });

  it('computes another root from any other leaf, index or size', () => {
    const size = fc.integer({ min: 2, max: 40 });
    fc.assert(
      fc.property(size, fc.nat(), fc.nat(), (size, one, other) => {
        const texts = Array.from({ length: size }, (_, index) => `leaf ${index}`);
        const [index, elsewhere] = [one % size, other % size];
        const { root, path } = treeOf(texts, index);
        assert.notDeepEqual(rootOfProof('another leaf', index, size, path), root);
        if (elsewhere !== index) assert.notDeepEqual(rootOfProof(texts[index] ?? '', elsewhere, size, path), root);
        assert.equal(rootOfProof(texts[index] ?? '', size, size, path), null);
      }),
    );
  });
});

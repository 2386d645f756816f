import { expectCells } from './matrix.ts';
import { recordedClients } from './recorded-clients.ts';

describe('every recorded client protocol at every provider protocol', function () {
  this.timeout(30_000);
  expectCells(recordedClients('matrix'));
});

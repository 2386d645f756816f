import { expectCells } from '../../../gateway/matrix/matrix.ts';
import { recordingClients } from './recording-clients.ts';

describe('every client protocol at every provider protocol', function () {
  this.timeout(30_000);
  expectCells(recordingClients('matrix'));
});

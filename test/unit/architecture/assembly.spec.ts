import { Test } from '@nestjs/testing';
import { Clock, SystemClock } from '#libs/clock';
import { CommandExecutor, Database } from '#libs/database';
import { PetDependents, PetsService } from '../../../src/modules/pets';

const database = { provide: Database, useValue: { poolSize: 1 } };
const clock = { provide: Clock, useClass: SystemClock };

it('an assembly that does not name who takes part in writes does not start', async () => {
  const assembly = Test.createTestingModule({ providers: [database, clock, CommandExecutor] });
  await expect(assembly.compile()).rejects.toThrow('Participants');
});

it('an assembly that does not name the modules that depend on pets does not start', async () => {
  const commands = { provide: CommandExecutor, useValue: {} };
  const assembly = Test.createTestingModule({ providers: [database, commands, PetsService] });
  await expect(assembly.compile()).rejects.toThrow(PetDependents.name);
});

import { Test } from '@nestjs/testing';
import { CommandExecutor, Database } from '#libs/database';
import { OrdersOfPets, PetsService } from '../../../src/modules/pets';

const database = { provide: Database, useValue: { poolSize: 1 } };

it('an assembly that does not name the modules that depend on pets does not start', async () => {
  const commands = { provide: CommandExecutor, useValue: {} };
  const assembly = Test.createTestingModule({ providers: [database, commands, PetsService] });
  await expect(assembly.compile()).rejects.toThrow(OrdersOfPets.name);
});

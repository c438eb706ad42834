// For operators: clients and keys without the guards that requests need, which are slow to load.
export { AdministrationModule } from './administration.module';
export { AdministrationError, ClientsService } from './clients.service';
export { describeKey, type KeyDescription } from './describe-key';
export { KeysService, type IssuedKey } from './keys.service';

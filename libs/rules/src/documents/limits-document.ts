import { Type } from 'class-transformer';
import {
  ArrayNotEmpty,
  ArrayUnique,
  Equals,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsNotEmpty,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateNested,
} from 'class-validator';
import { CALLERS, PARTITION_NAMES, type Callers, type PartitionName } from '../model.js';
import { IsRecordOf, oneOf } from './constraints.js';
import { LimitFields } from './limit-fields.js';

const REVISION = 'a whole number, 1 to 9007199254740991';
const PER = `a list of ${PARTITION_NAMES.join(', ')}, each at most once`;

export class TenantOptions {
  @IsString({ message: 'the name of a tier' })
  @IsNotEmpty({ message: 'the name of a tier' })
  readonly tier!: string;
}

/** A limit and the selector (whom, where) that it is for. */
export class SelectedLimit extends LimitFields {
  @IsOptional()
  @Equals(true, { message: 'true' })
  readonly default?: true;

  @IsOptional()
  @IsString({ message: 'the name of a tenant' })
  @IsNotEmpty({ message: 'the name of a tenant' })
  readonly tenant?: string;

  @IsOptional()
  @IsString({ message: 'the name of a tier' })
  @IsNotEmpty({ message: 'the name of a tier' })
  readonly tier?: string;

  @IsOptional()
  @IsString({ message: 'the name of a route' })
  @IsNotEmpty({ message: 'the name of a route' })
  readonly route?: string;

  /** Evaluated and reported, never refusing. */
  @IsOptional()
  @IsBoolean({ message: 'true or false' })
  readonly shadow?: boolean;
}

export class PolicyOptions {
  @Matches(/^[a-z][a-z0-9-]*$/, { message: 'a name of a-z, 0-9 and dashes that starts with a letter' })
  @MaxLength(64, { message: 'a name of at most 64 characters' })
  readonly name!: string;

  @IsArray({ message: PER })
  @ArrayUnique({ message: PER })
  @IsIn(PARTITION_NAMES, { each: true, message: oneOf(PARTITION_NAMES) })
  readonly per!: PartitionName[];

  @IsOptional()
  @IsIn(CALLERS, { message: oneOf(CALLERS) })
  readonly callers?: Callers;

  @IsOptional()
  @IsArray({ message: 'a list of route names' })
  @ArrayNotEmpty({ message: 'at least one route; leave it out for all' })
  @IsString({ each: true, message: 'the name of a route' })
  readonly routes?: string[];

  @IsOptional()
  @IsBoolean({ message: 'true or false' })
  readonly shadow?: boolean;

  @IsArray({ message: 'a list of limits' })
  @ArrayNotEmpty({ message: 'at least the default limit' })
  @ValidateNested({ each: true, message: 'a mapping with a selector and one kind of limit' })
  @Type(() => SelectedLimit)
  readonly limits!: SelectedLimit[];
}

/** The product: `config/limits.yaml`. */
export class LimitsDocument {
  declare file: string;

  @Equals(1, { message: '1' })
  readonly version!: 1;

  /** Grows with each announcement; a file may leave it out. */
  @IsOptional()
  @IsInt({ message: REVISION })
  @Min(1, { message: REVISION })
  @Max(Number.MAX_SAFE_INTEGER, { message: REVISION })
  readonly revision?: number;

  @IsOptional()
  @IsRecordOf(() => TenantOptions, /^[\s\S]{1,256}$/, 'a tenant of 1 to 256 characters')
  readonly tenants?: ReadonlyMap<string, TenantOptions>;

  @IsArray({ message: 'a list of policies' })
  @ArrayNotEmpty({ message: 'at least one policy' })
  @ValidateNested({ each: true, message: 'a mapping with name, per and limits' })
  @Type(() => PolicyOptions)
  readonly policies!: PolicyOptions[];
}

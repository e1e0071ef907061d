import { IsIP, IsNotEmpty, IsOptional, IsString } from 'class-validator';

/** Whose keys: a tenant (with user or API key id), or an address; on one route, of one policy or all. */
export class CallerQuery {
  @IsString()
  @IsNotEmpty()
  route: string;

  @IsOptional()
  @IsString()
  @IsNotEmpty()
  tenant?: string;

  @IsOptional()
  @IsString()
  @IsNotEmpty()
  user?: string;

  @IsOptional()
  @IsString()
  @IsNotEmpty()
  apiKey?: string;

  @IsOptional()
  @IsIP()
  ip?: string;

  @IsOptional()
  @IsString()
  @IsNotEmpty()
  policy?: string;
}

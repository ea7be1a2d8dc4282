/* scratch */
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wmisleading-indentation"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wformat-truncation"
#pragma GCC diagnostic ignored "-Wshadow"
#include "common.h"
#include "runtime/ptx_walk.h"
#include "runtime/plan.h"
#include "runtime/occupancy.h"
#include <unistd.h>
static char *slurp(const char*p){FILE*f=fopen(p,"r");if(!f)return NULL;fseek(f,0,SEEK_END);long n=ftell(f);rewind(f);char*b=calloc(1,(size_t)n+1);if(fread(b,1,(size_t)n,f)){};fclose(f);return b;}
static void one(cugen_kernel*k,const struct cache_record*r,const char*problem){
  uint64_t index; cugen_error err; struct variant v; struct kernel_spec spec;
  if(space_find(k->space,r->variant,&index,&err)) return;
  space_variant(k->space,index,&v,k->values);
  if(expand_variant(k->expander,k->config,&k->problem,&k->device.facts,&v,&spec,&err)) return;
  char path[300],pathr[300]; snprintf(path,300,"/tmp/model-cache/%s.ptx",spec.source_hash.hex); snprintf(pathr,300,"/tmp/model-cache/%s.res",spec.source_hash.hex);
  char*ptx=slurp(path); struct kernel_resources res[KERNEL_MAX_LAUNCHES]; char names[KERNEL_MAX_LAUNCHES][256]; int n=0;
  const char*entries[KERNEL_MAX_LAUNCHES]; size_t ne=plan_entries(&spec,entries);
  if(!ptx){
    struct compile_request q={.toolkit=k->lib->toolkit,.name=spec.variant,.source=spec.source,.arch=k->arch,.entries=entries,.entry_count=ne,.keep_ptx=true};
    struct compiled c; if(k->ops->compile(&q,&c,&err)){fprintf(stderr,"%s: %s\n",r->variant,err.message);return;}
    ptx=c.ptx; FILE*f=fopen(path,"w");fputs(ptx,f);fclose(f); f=fopen(pathr,"w");
    for(size_t i=0;i<ne;i++)fprintf(f,"%s %d %d %lld %lld %lld\n",c.entries[i],c.resources[i].registers,c.resources[i].max_threads,(long long)c.resources[i].static_shared,(long long)c.resources[i].local_bytes,(long long)c.resources[i].spill_bytes); fclose(f);
  }
  FILE*f=fopen(pathr,"r"); long long a,b,c2; while(f&&n<8&&fscanf(f,"%255s %d %d %lld %lld %lld",names[n],&res[n].registers,&res[n].max_threads,&a,&b,&c2)==6){res[n].static_shared=a;res[n].local_bytes=b;res[n].spill_bytes=c2;n++;} if(f)fclose(f);
  int64_t params[32]; int np=0;
  for(size_t i=0;i<spec.argument_count;i++){ const struct kernel_argument*g=&spec.arguments[i]; if(!kernel_argument_passed(g))continue;
    params[np]= g->kind==CUGEN_ARGUMENT_SCALAR? g->value.integer : (int64_t)(np+1)<<40; np++; }
  static const struct ptx_machine m={.pipe={0.25,0.5,0.25,0.5,0.25,2,0,1},.latency={8,4.5,4,8,5,20,33,30},.latency_shared=29,.latency_l1=38,.latency_l2=270,.latency_memory=800,.latency_barrier=25,.tensor_flops=8192,.tensor_f64_flops=512};
  for(size_t l=0;l<spec.launch_count;l++){
    const struct kernel_launch*kl=&spec.launches[l]; size_t e=0; while(strcmp(entries[e],kl->entry))e++;
    struct ptx_kernel pk; struct ptx_counts c={0}; struct occupancy occ={0};
    int threads=(int)(kl->block[0]*kl->block[1]*kl->block[2]);
    occupancy_get_carved(&k->device.facts,&res[e],threads,kl->shared_bytes,kl->has_carveout?kl->carveout:-1,&occ,&err);
    int64_t shared=(res[e].static_shared+kl->shared_bytes+1024)*occ.blocks; int64_t l1=(256*1024-shared)/(occ.blocks?occ.blocks:1); if(l1<1024)l1=1024;
    struct ptx_launch pl={.shared_bytes=kl->shared_bytes,.parameters=params,.parameter_count=np,.l1_bytes=l1}; memcpy(pl.grid,kl->grid,12);memcpy(pl.block,kl->block,12);
    double t0=clock_seconds();
    int st=ptx_open(ptx,names[e],&pk,&err); if(!st){st=ptx_walk(&pk,&m,&pl,&c,&err);ptx_close(&pk);}
    if(st){fprintf(stderr,"%s: %s\n",r->variant,err.message);return;}
    printf("%s|%s|%s|%.9g|%zu|%zu|%u|%d|%d|%d|%lld|%.9g|%.9g", k->config->name,problem,r->variant,r->seconds,l,spec.launch_count,kl->grid[0]*kl->grid[1]*kl->grid[2],threads,occ.blocks,res[e].registers,(long long)res[e].spill_bytes,spec.bytes,spec.flops);
    printf("|%g",c.instructions); for(int p=0;p<PTX_PIPE_COUNT;p++)printf("|%g",c.pipe[p]);
    printf("|%g|%g|%g|%g|%g|%g|%g|%g|%g|%g|%g|%g|%.4f\n",c.shared_wavefronts,c.shared_ideal,c.global_wavefronts,c.global_requests,c.global_sectors,c.ideal_sectors,c.load_sectors,c.store_sectors,c.atomics,c.barriers,c.alone[0],c.alone[1],clock_seconds()-t0);
  }
  kernel_spec_free(&spec); free(ptx);
}
int main(int argc,char**argv){
  cugen_options o=CUGEN_OPTIONS_INIT; cugen_error err; cugen*lib; cugen_kernel*k; struct cache*cache;
  o.device="model:H200"; o.cache=argv[1];
  require(cugen_open(&o,&lib,&err),&err);
  require(cugen_kernel_open(lib,argv[2],(const char*const*)&argv[5],(size_t)(argc-5),&k,&err),&err);
  int limit=atoi(argv[3]), part=atoi(argv[4]);
  require(api_space(k,&err),&err); require(api_expander(k,&err),&err); require(api_cache(lib,&cache,&err),&err);
  struct cache_space*sp; size_t ns; require(cache_spaces(cache,&sp,&ns,&err),&err);
  for(size_t i=0;i<ns;i++){ const char*kp=text_get(&k->problem_text);
    if(strcmp(sp[i].config,k->config->name)||strncmp(sp[i].problem,kp,strlen(sp[i].problem)))continue;
    struct cache_key key={sp[i].device,sp[i].config,sp[i].problem,sp[i].options}; struct cache_record*r; size_t n; require(cache_load(cache,&key,&r,&n,&err),&err);
    for(size_t j=0;j<n;j++) if(r[j].outcome==0&&(int)(j%limit)==part%limit) one(k,&r[j],sp[i].problem);
  }
}

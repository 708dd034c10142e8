
/*
 * By their symbols, a Java and a Go: what jpp_jemalloc.c looks for, and nothing
 * else of them.
 */


int   JNI_CreateJavaVM(void);
void  _cgo_topofstack(void);


int
JNI_CreateJavaVM(void)
{
    return -1;
}


void
_cgo_topofstack(void)
{
}

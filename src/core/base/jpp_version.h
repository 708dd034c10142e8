
/* The version, defined here only. */


#ifndef _JPP_VERSION_H_INCLUDED_
#define _JPP_VERSION_H_INCLUDED_


#define JPP_VERSION  "0.1.0"


#endif /* _JPP_VERSION_H_INCLUDED_ */
